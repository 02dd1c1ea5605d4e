/** Guard during playback: the source behind it is not changed, because a window would not show the effect. */
import { ORPCError } from '@orpc/server'
import type { Notice } from '#core/api/frames.ts'

/**
 * Verbs that change a source, or stage a change. Verbs that stop or revert (the global stop, the lock, cancelling a
 * commit) are excluded: they are always carried out.
 */
export const CHANGES: ReadonlySet<string> = new Set([
  'source.setSpeed',
  'source.setMode',
  'source.unlock',
  'source.setController',
  'source.setControllerOptions',
  'rules.stage',
  'rules.stagePolicy',
  'rules.unstage',
  'rules.restore',
  'rules.commit',
  'rules.undo',
  'padll.change',
  'padll.apply',
  'tokens.reserve',
  'tokens.change',
  'sandbox.stage',
])

const RECORDED: Notice = {
  code: 'RECORDED',
  what: 'Nothing was changed',
  why: 'a recording is shown',
  unaffected: 'the live source, which continues',
  next: 'Return to live first.',
}

/** Throws the refusal of a verb that is not allowed now. */
export function mayChange(path: readonly string[], isPlayedBack: boolean): void {
  if (isPlayedBack && CHANGES.has(path.join('.')))
    throw new ORPCError('REFUSED', { status: 409, message: RECORDED.what, data: RECORDED, defined: true })
}
