/** The maximum sizes of a request; larger ones are refused with 413, 414 or 431. */
export const maxBodyBytes = 1024 * 1024;
export const maxTargetBytes = 8 * 1024;
export const maxHeaderBytes = 16 * 1024;
