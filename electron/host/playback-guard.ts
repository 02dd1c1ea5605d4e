/** While what was recorded is on screen nothing of the source behind it is changed: a window would not show what it did. */
import { ORPCError } from '@orpc/server'
import type { Notice } from '#core/api/frames.ts'

/**
 * Verbs that change a source, or stage a change of it. What stops or takes back (the global stop, the lock, cancelling a commit) is none
 * of them: it is always carried out.
 */
export const CHANGES: ReadonlySet<string> = new Set([
  ...['source.setSpeed', 'source.setMode', 'source.unlock', 'source.setController', 'source.setControllerOptions'],
  ...['rules.stage', 'rules.stagePolicy', 'rules.unstage', 'rules.restore', 'rules.commit', 'rules.undo'],
  ...['padll.change', 'padll.apply', 'tokens.reserve', 'tokens.change', 'sandbox.stage'],
])

const RECORDED: Notice = {
  code: 'RECORDED',
  what: 'Nothing was changed',
  why: 'what was recorded is on screen',
  unaffected: 'the source behind it, which goes on',
  next: 'Go back to live first.',
}

/** Throws the refusal of a verb that may not be carried out now. */
export function mayChange(path: readonly string[], isPlayedBack: boolean): void {
  if (isPlayedBack && CHANGES.has(path.join('.')))
    throw new ORPCError('REFUSED', { status: 409, message: RECORDED.what, data: RECORDED, defined: true })
}
