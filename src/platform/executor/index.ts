export {
  collectFields,
  type Fragments,
  fragmentsIn,
  isIncluded,
  variablesFor,
  walkSelections,
} from './collect-fields.ts';
export { type FieldExtensions, included, type PreparedInfo } from './extensions.ts';
export { type OperationSource, PayloadTooLarge, PreparedOperation, type RootCall } from './operation.ts';
export { bytesOf, type Execution, type JsonText, maxErrors, type Turns, type Variables } from './run.ts';
