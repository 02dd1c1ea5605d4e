/**
 * What stands for a name outside the site. Everything that leaves goes through one of these by what it is; nothing leaves because it was
 * forgotten.
 */
import type { NameKind } from './notebook.ts'

export interface Redactor {
  /** false: every name passes as it is. */
  readonly isOn: boolean
  /**
   * What stands for a name. The same name of the same kind always has the same stand-in, on every export of this console; parts of a job id
   * (job, program, user, host) have those of their own kind, so that what belongs together still does.
   */
  name(kind: NameKind, text: string): string
  /** The conditions of a rule: items of jobid, nid, uid, gid replaced, the rest as it is; still a rule. */
  conditions(text: string): string
  /** Free text: every known name in it replaced. */
  text(text: string): string
  /** Strings anywhere in a JSON document, by the same rule as free text; numbers and keys stay. */
  json(value: unknown): unknown
}

/** Nothing is replaced. */
export const PLAIN: Redactor = {
  isOn: false,
  name: (_, text) => text,
  conditions: (text) => text,
  text: (text) => text,
  json: (value) => value,
}
