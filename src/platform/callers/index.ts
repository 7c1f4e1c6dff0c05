export { Accounts, addressPrefix, byteMillis, requestMillis, service } from './accounts.ts';
export { type Caller, Callers, waiting } from './caller.ts';
export { ClientSlots, type SlotCounter, type Slot } from './client-slots.ts';
export { requestBytes, RequestMemory, sizeOf } from './memory.ts';
export { type Lease, Share, type ShareLimit } from './share.ts';
