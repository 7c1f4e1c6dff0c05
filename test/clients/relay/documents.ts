import { graphql } from 'relay-runtime';

// What relay-compiler compiles. A bundler puts its artifacts in the place of these texts (babel-plugin-relay,
// @swc/plugin-relay, vite-plugin-relay); without one, as in program.ts, they are imported.

// guide:begin relay-pagination
export const petsQuery = graphql`
  query documentsPetsQuery($after: String) {
    pets(first: 10, after: $after) @connection(key: "documents_pets") {
      edges {
        node {
          nodeId
          id
          name
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`;
// guide:end

// guide:begin relay-refetchable
export const pet = graphql`
  fragment documents_pet on Pet @refetchable(queryName: "documentsPetRefetchQuery") {
    id
    name
    status
  }
`;

export const category = graphql`
  fragment documents_category on Category @refetchable(queryName: "documentsCategoryRefetchQuery") {
    id
    name
  }
`;

export const order = graphql`
  fragment documents_order on Order @refetchable(queryName: "documentsOrderRefetchQuery") {
    id
    shipDate
  }
`;

export const inventoryItem = graphql`
  fragment documents_inventoryItem on InventoryItem @refetchable(queryName: "documentsInventoryItemRefetchQuery") {
    id
    quantity
  }
`;
// guide:end

export const sameIdQuery = graphql`
  query documentsSameIdQuery($id: ID!) {
    pet(id: $id) {
      nodeId
      id
      name
      inventory {
        nodeId
        id
        quantity
      }
    }
    category(id: $id) {
      nodeId
      id
      name
    }
  }
`;

// guide:begin relay-mutation
export const updatePet = graphql`
  mutation documentsUpdatePetMutation($input: UpdatePetInput!) {
    updatePet(input: $input) {
      pet {
        nodeId
        name
      }
    }
  }
`;
// guide:end

export const throttledQuery = graphql`
  query documentsThrottledQuery {
    categories(first: 1) {
      totalCount
    }
  }
`;
