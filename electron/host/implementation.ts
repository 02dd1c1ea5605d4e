/** Base of every handler of the contract: caller, refusals during playback, streams per window. */
import { implement, ORPCError } from '@orpc/server'
import { contract } from '#core/api/contract.ts'
import { errors } from '#core/api/parts.ts'
import type { Result } from '#core/base/result.ts'
import type { Notice } from '#core/api/frames.ts'
import type { PeerContext } from './peer.ts'
import { StreamLimit } from './stream-limit.ts'
import { toNotice } from './views/status.ts'

/**
 * Verbs that change a source, or stage a change. Verbs that stop or revert (the global stop, the lock, canceling a
 * commit) are excluded: they are always carried out.
 */
export const CHANGES: ReadonlySet<string> = new Set([
  'source.setSpeed',
  'source.setMode',
  'source.unlock',
  'source.setController',
  'source.setControllerOptions',
  'source.startClearing',
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
  unaffected: 'The live source, which continues.',
  next: 'Return to live first.',
}

/**
 * Throws the refusal of a verb during playback: the source behind it is not changed, because a window would not show the
 * effect.
 */
export function mayChange(path: readonly string[], isPlayedBack: boolean): void {
  if (isPlayedBack && CHANGES.has(path.join('.')))
    throw new ORPCError('REFUSED', { status: 409, message: RECORDED.what, data: RECORDED, defined: true })
}

/** @param isPlayedBack  true during playback: then verbs that change a source are refused. */
// The contract determines the return type; naming it would repeat the whole contract.
export const implementation = (isPlayedBack: () => boolean) => {
  const streams = new StreamLimit()
  return implement(contract)
    .$context<PeerContext>()
    .use(async ({ path, context, next }) => {
      mayChange(path, isPlayedBack())
      const result = await next()
      return { ...result, output: streams.admit(context.peer, result.output) }
    })
}
export type Implementation = ReturnType<typeof implementation>

/** Value of a successful verb. @throws {ORPCError} REFUSED of the contract, with the failure */
export function accepted<T>(result: Result<T>): T {
  if (result.ok) return result.value
  // Code and status make it an error of the contract.
  const { status } = errors.REFUSED
  throw new ORPCError('REFUSED', { status, message: result.error.what, data: toNotice(result.error) })
}
