/** Which recorded answers the emulator does not claim to give, and why. The first reason that fits counts. */
import type { CorpusRecord } from './records.ts'

interface Exception {
  readonly reason: string
  readonly fits: (r: CorpusRecord) => boolean
}

const command =
  (pattern: RegExp): Exception['fits'] =>
  (r) =>
    pattern.test(r.command)
const id =
  (pattern: RegExp): Exception['fits'] =>
  (r) =>
    pattern.test(r.id)

const NOT_CLAIMED: readonly Exception[] = [
  { reason: 'another tool: lfs', fits: command(/^lfs /) },
  { reason: 'another tool: lljobstat', fits: command(/lljobstat/) },
  { reason: 'another tool: mount, ls, top', fits: command(/^(?:mount|ls|top) /) },
  { reason: 'wall-clock time of a command (time)', fits: command(/^time /) },
]

/** Why an answer is not claimed; undefined: it is. */
export const reasonAgainst = (r: CorpusRecord): string | undefined => NOT_CLAIMED.find((e) => e.fits(r))?.reason
export { command, id }
