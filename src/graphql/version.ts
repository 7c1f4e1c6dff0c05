export const versionDescription =
  'Changes with every change of the fields. Opaque; the `ETag` of REST without its quotes. Send it as `ifVersion` with a change.';

export const ifVersionDescription =
  'The `version` that you have seen: when somebody else was faster, nothing is written and the field fails with PRECONDITION_FAILED. Omitted or null: no check.';
