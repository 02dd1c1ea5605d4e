/**
 * Names of PADLL's rules and their numbers on the wire: context types, operation types and operation contexts
 * (classes). Source: spec/padll 1.4.
 */

/** Types of a channel's conditions. */
export const CONTEXT_TYPES = { general: 0, posix: 1, posix_meta: 2 } as const
export type ContextType = keyof typeof CONTEXT_TYPES

/** POSIX operations, as limiters know them; `no_op` means any. */
export const OPERATION_TYPES = {
  no_op: 0,
  read: 1,
  write: 2,
  pread: 3,
  pwrite: 4,
  pread64: 5,
  pwrite64: 6,
  open: 9,
  close: 14,
  sync: 17,
  statfs: 31,
  fstatfs: 32,
  statfs64: 33,
  fstatfs64: 34,
  unlink: 37,
  rename: 39,
  fopen: 45,
  fopen64: 46,
  fclose: 50,
  mkdir: 63,
  rmdir: 70,
  getxattr: 72,
  setxattr: 75,
  listxattr: 78,
  mknod: 91,
  mmap: 93,
  munmap: 94,
  data: 95,
  metadata: 96,
  total: 97,
} as const
export type OperationType = keyof typeof OPERATION_TYPES

/** Classes of operations; `no_op` means any. */
export const OPERATION_CONTEXTS = {
  no_op: 0,
  foreground: 1,
  background: 2,
  high_priority: 3,
  med_priority: 4,
  low_priority: 5,
  data_op: 6,
  meta_op: 7,
  dir_op: 8,
  ext_attr_op: 9,
  file_mod_op: 10,
} as const
export type OperationContext = keyof typeof OPERATION_CONTEXTS

/** Scope of a policy, a limit or a measurement: one operation (`open`) or one class (`meta_op`). */
export type Scope = Exclude<OperationType, 'no_op'> | Exclude<OperationContext, 'no_op'>

export const isOperationType = (word: string): word is OperationType => Object.hasOwn(OPERATION_TYPES, word)
export const isOperationContext = (word: string): word is OperationContext => Object.hasOwn(OPERATION_CONTEXTS, word)
export const isScope = (word: string): word is Scope =>
  word !== 'no_op' && (isOperationType(word) || isOperationContext(word))
