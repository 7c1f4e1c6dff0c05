interface Example {
  readonly query: string;
  /** JSON. The first example has none: GraphiQL doesn't show those of the tab that it opens with. */
  readonly variables?: string;
}

const nested = `# Everything hangs together: pets know their category, categories their pets.
# Run it with the button, or with Ctrl-Enter. Press Ctrl-Space inside the braces to see what else there is.
query PetsAndCategories {
  pets(first: 3, filter: { statusIn: [AVAILABLE] }) {
    totalCount
    edges {
      node {
        name
        status
        inventory {
          quantity
        }
        category {
          name
          description
          pets(first: 2, orderBy: { field: NAME }) {
            edges {
              node {
                name
              }
            }
          }
        }
      }
    }
  }
}
`;

const pagePerParent = `# A page for each parent: the first pets of every category, by name, and how many there are.
# However many categories come back, the service reads them with the same few SQL statements.
query FirstPetsOfEachCategory {
  categories(first: 10) {
    edges {
      node {
        name
        pets(first: 3, orderBy: { field: NAME }) {
          totalCount
          edges {
            node {
              name
              status
            }
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  }
}
`;

const mutation = `# A change, with its values in the variables below. What comes back is the pet as it now is,
# with the inventory item that every new pet gets. Try an empty name to see a refusal.
mutation CreatePet($input: CreatePetInput!) {
  createPet(input: $input) {
    pet {
      id
      name
      status
      category {
        name
      }
      inventory {
        quantity
      }
    }
  }
}
`;

const nextPage = `# Page by page: "after" is the endCursor of the page before, here that of the first five pets.
# Put the endCursor that comes back into the variables to go on, until hasNextPage is false.
query NextPage($after: String) {
  pets(first: 5, after: $after) {
    edges {
      node {
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

/** What the tabs hold on the first visit. Each works as it is on the demo store, and on any store with a first category. */
export const examples: Example[] = [
  { query: nested },
  { query: pagePerParent },
  { query: mutation, variables: json({ input: { name: 'Bella', categoryId: '1', status: 'AVAILABLE' } }) },
  { query: nextPage, variables: json({ after: 'NmUxZmZiMDFbInBldHMiLCJJRCIsbnVsbCwiNSJd' }) },
];

function json(variables: object): string {
  return JSON.stringify(variables, null, 2);
}
