/** The maximum sizes of a request; larger ones are refused with 413, 414 or 431. */
export const maxBodyBytes = 1024 * 1024;
export const maxTargetBytes = 8 * 1024;
export const maxHeaderBytes = 16 * 1024;

/** The maximum levels of objects and lists in a JSON text; here and below, more is refused with 400. */
export const maxJsonDepth = 500;
/** Members of objects and items of lists in a JSON text, on all levels together, as written. */
export const maxJsonValues = 10_000;
/** The text of a GraphQL document in UTF-8, also of one that is persisted or trusted. */
export const maxDocumentBytes = 64 * 1024;
