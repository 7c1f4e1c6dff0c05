export interface Example {
  /** A few words for the menu. */
  readonly purpose: string;
  readonly query: string;
  /** JSON. */
  readonly variables?: string;
  /** In addition to the key. */
  readonly headers?: Readonly<Record<string, string>>;
}

const nested = `# Pets know their category,
# categories know their pets.
#
# Run: the button, or Ctrl-Enter.
# What else is there? Ctrl-Space.
query PetsAndCategories {
  pets(
    first: 3
    filter: { statusIn: AVAILABLE }
  ) {
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
          pets(first: 2) {
            nodes {
              name
            }
          }
        }
      }
    }
  }
}
`;

const pagePerParent = `# A page for each parent: how many pets
# a category has, and the first by name.
#
# Ten categories cost as many
# SQL statements as one.
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

const mutation = `# A change. Its values are in the
# variables below; what comes back
# is the pet as it now is.
#
# An empty name shows a refusal.
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

const nextPage = `# Forwards, page by page: "after" is
# the endCursor of the page before.
#
# Put the endCursor that comes back
# into the variables to go on.
query NextPage($after: String) {
  pets(first: 5, after: $after) {
    pageInfo {
      hasNextPage
      endCursor
    }
    edges {
      node {
        id
        name
      }
    }
  }
}
`;

const orderOnce = `# An order that is made once, however
# often it is sent: the headers below
# have an Idempotency-Key.
#
# Run it twice: "extensions" names
# what was replayed. Another key is
# another order.
mutation OrderOnce($pet: ID!) {
  createOrder(input: { petId: $pet, quantity: 1 }) {
    order {
      id
      quantity
      complete
    }
  }
}
`;

const updateStock = `# A change of what you have read.
#
# Put the version that comes back into
# the variables as "ifVersion", with
# another quantity, and run it twice:
# the second time the stock is no
# longer as you have read it.
mutation UpdateStock($input: UpdateInventoryInput!) {
  updateInventory(input: $input) {
    inventoryItem {
      quantity
      version
    }
  }
}
`;

const sale = `# A sale: all of it, or nothing.
#
# In a shop it has the version of the
# stock as well (see UpdateStock), and
# an Idempotency-Key (see OrderOnce).
mutation Sell($pet: ID!) @atomic {
  createOrder(input: { petId: $pet, quantity: 1 }) {
    order {
      id
    }
  }
  updatePet(input: { id: $pet, status: SOLD }) {
    pet {
      name
      status
      version
      inventory {
        quantity
        version
      }
    }
  }
}
`;

const changes = `# Every change, as it happens.
#
# Run it, then change a pet in another
# tab: its event comes in here. The
# button ends the stream.
subscription Changes {
  events {
    type
    at
    object {
      nodeId
      ... on Pet {
        name
        status
      }
      ... on InventoryItem {
        quantity
      }
    }
  }
}
`;

const webhook = `# For a key with the scope WEBHOOKS, where
# WEBHOOK_SIGNING_KEY is set: events are
# sent to an address of yours, signed.
# Keep the secret: it is shown once.
#
# Then: testWebhookEndpoint,
# updateWebhookEndpoint,
# pauseWebhookEndpoint and
# resumeWebhookEndpoint,
# rotateWebhookSecret,
# replayWebhookEndpoint,
# deleteWebhookEndpoint.
mutation CreateWebhook($url: String!) {
  createWebhookEndpoint(input: { url: $url, eventTypes: [PET_UPDATED] }) {
    webhookEndpoint {
      id
      state
      version
    }
    secret
  }
}
`;

const deliveries = `# For a key with the scope WEBHOOKS:
# what has become of webhooks.
query Deliveries {
  webhookEndpoints(first: 5) {
    nodes {
      id
      url
      state
      failingSince
      nextAttemptAt
      backlog {
        events
        oldestAt
      }
      attempts(first: 5) {
        nodes {
          at
          result
          status
          failure
          cause
          durationMillis
        }
      }
    }
  }
}
`;

/**
 * The first one is open on the first visit; the others are in a list. Each works as it is on the demo store, and on any store
 * with a first category and a first pet; the last two for administrators only. It is a file of its own, so that it can
 * be hidden with the schema.
 */
export const examples: Example[] = [
  { purpose: 'Pets with their categories and stock', query: nested },
  { purpose: 'A page of pets for each category', query: pagePerParent },
  {
    purpose: 'A mutation with variables',
    query: mutation,
    variables: json({ input: { name: 'Bella', categoryId: '1', status: 'AVAILABLE' } }),
  },
  {
    purpose: 'A retry that does nothing twice',
    query: orderOnce,
    variables: json({ pet: '1' }),
    headers: { 'Idempotency-Key': `order of ${new Date().toISOString()}` },
  },
  {
    purpose: 'A change of exactly what you have read',
    query: updateStock,
    variables: json({ input: { petId: '1', quantity: 7, ifVersion: null } }),
  },
  { purpose: 'A sale, all of it or nothing', query: sale, variables: json({ pet: '1' }) },
  { purpose: 'Changes as they happen', query: changes },
  {
    purpose: 'Paging with a cursor',
    query: nextPage,
    variables: json({ after: 'NmUxZmZiMDFbInBldHMiLCJJRCIsbnVsbCwiNSJd' }),
  },
  {
    purpose: 'A webhook',
    query: webhook,
    variables: json({ url: 'https://example.com/webhooks' }),
  },
  { purpose: 'What became of webhooks', query: deliveries },
];

function json(variables: object): string {
  return JSON.stringify(variables, null, 2);
}
