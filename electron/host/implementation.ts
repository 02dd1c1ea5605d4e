/** What every handler of the contract is made with: who calls, what is refused while something recorded is on screen, and how. */
import { implement } from '@orpc/server'
import { contract } from '#core/api/contract.ts'
import type { Notice } from '#core/api/frames.ts'
import type { Failure } from '#core/base/result.ts'
import type { PeerContext } from './peer.ts'
import { mayChange } from './playback-guard.ts'
import { toNotice } from './views/status.ts'

/** @param isPlayedBack  whether something recorded is on screen: then verbs that change a source are refused. */
// The return type is what the contract makes of it; naming it would repeat the whole contract.
export const implementation = (isPlayedBack: () => boolean) =>
  implement(contract)
    .$context<PeerContext>()
    .use(({ path, next }) => {
      mayChange(path, isPlayedBack())
      return next()
    })
export type Implementation = ReturnType<typeof implementation>

/** A failure as the contract carries it. */
export const refusal = (f: Failure): { message: string; data: Notice } => ({ message: f.what, data: toNotice(f) })
