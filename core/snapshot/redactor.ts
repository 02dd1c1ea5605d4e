/**
 * Redactor of exported data. Every exported value passes through the method of its kind, so none is exported unredacted by
 * omission.
 */
import type { NameKind } from './notebook.ts'

export interface Redactor {
  /** false: names pass unchanged. */
  readonly isOn: boolean
  /**
   * Pseudonym of a name. The same name of the same kind has the same pseudonym in every export of this console; parts of a job
   * id (job, program, user, host) have the pseudonyms of their own kind, so that relations are preserved.
   */
  name(kind: NameKind, text: string): string
  /** Conditions of a rule with the items of jobid, nid, uid and gid replaced; the result is still a rule. */
  conditions(text: string): string
  /** Free text with every known name replaced. Bare numbers stay: commands and readings consist of figures. */
  text(text: string): string
  /** Sentence of a person or of Sluice: as `text`, and a bare number that is a known job is replaced, too. */
  prose(text: string): string
  /** JSON document with its strings treated as free text; numbers and keys stay. */
  json(value: unknown): unknown
}

/** Redactor that replaces nothing. */
export const PLAIN: Redactor = {
  isOn: false,
  name: (_, text) => text,
  conditions: (text) => text,
  text: (text) => text,
  prose: (text) => text,
  json: (value) => value,
}
