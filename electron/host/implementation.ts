/** Base of every handler of the contract: caller, refusals during playback, streams per window. */
import { implement, ORPCError } from '@orpc/server'
import { contract } from '#core/api/contract.ts'
import { errors } from '#core/api/parts.ts'
import type { Result } from '#core/base/result.ts'
import type { PeerContext } from './peer.ts'
import { mayChange } from './playback-guard.ts'
import { StreamLimit } from './stream-limit.ts'
import { toNotice } from './views/status.ts'

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
