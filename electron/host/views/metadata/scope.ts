/** Texts and calls of scopes; scopes of a source, in display order. */
import { POSIX_CALLS, type PosixCallRow } from '#core/padll/posix-calls.ts'
import { isScope } from '#core/padll/vocabulary.ts'

/** Most scopes in a frame. */
const SCOPES_MAX = 40
/** Most calls listed for a scope. */
const CALLS_NAMED = 4

const IN_CLASS: Readonly<Record<string, (c: PosixCallRow) => boolean>> = {
  data_op: (c) => c.klass === 'data',
  data: (c) => c.klass === 'data',
  meta_op: (c) => c.klass !== 'data',
  metadata: (c) => c.klass !== 'data',
  dir_op: (c) => c.klass === 'directory',
  ext_attr_op: (c) => c.klass === 'ext_attr',
  total: () => true,
}

const ALL: Readonly<Record<string, string>> = {
  data_op: 'all reads and writes',
  data: 'all reads and writes',
  meta_op: 'all metadata calls',
  metadata: 'all metadata calls',
  total: 'all calls',
}

/** Calls of PADLL that a scope covers; none for an unknown scope. */
function callsOf(scope: string): PosixCallRow[] {
  const inClass = Object.hasOwn(IN_CLASS, scope) ? IN_CLASS[scope] : undefined
  return POSIX_CALLS.filter((c) => c.origin === 'padll' && c.type !== null && (inClass ? inClass(c) : c.type === scope))
}

/** Calls of a scope, as text. */
export function operationsOf(scope: string): string {
  if (Object.hasOwn(ALL, scope)) return ALL[scope] ?? ''
  const names = callsOf(scope).map((c) => c.name)
  if (names.length === 0) return isScope(scope) ? 'no call is of this class' : ''
  return names.length <= CALLS_NAMED ? names.join(', ') : `${names.slice(0, CALLS_NAMED).join(', ')}, …`
}

/** True if `wide` covers all calls of `narrow`. */
function isWithin(narrow: string, wide: string): boolean {
  const part = callsOf(narrow)
  const all = callsOf(wide)
  return part.length > 0 && part.every((c) => all.includes(c))
}

/** Entries of a list about a scope: those that name it, else those within it. */
export function about<T extends { readonly scope: string }>(list: readonly T[], scope: string): readonly T[] {
  const exact = list.filter((c) => c.scope === scope)
  return exact.length > 0 ? exact : list.filter((c) => isWithin(c.scope, scope))
}

/** Distinct scopes in the given order: those with a limit or a policy come first. */
export const scopesOf = (...lists: readonly (readonly string[])[]): string[] =>
  [...new Set(lists.flat())].slice(0, SCOPES_MAX)

/** Requested scope if the source has it, else the first. */
export const chosenScope = (scopes: readonly string[], requested: string): string =>
  scopes.includes(requested) ? requested : (scopes[0] ?? requested)
