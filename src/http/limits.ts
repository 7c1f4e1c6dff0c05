/** What the server takes at most; more is refused by 413, 414 and 431. */
export const maxBodyBytes = 1024 * 1024;
export const maxTargetBytes = 8 * 1024;
export const maxHeaderBytes = 16 * 1024;
