/** Notice for a request that the host did not carry out, from any thrown value. */
import { ORPCError } from '@orpc/client'
import type { Notice } from '#core/api/frames.ts'

/** @param what  failure text, for errors without one. */
export function refusal(what: string, error: unknown): Notice {
  if (error instanceof ORPCError && error.defined) return error.data as Notice // the contract's REFUSED
  return { code: 'NOT_DONE', what, why: error instanceof Error ? error.message : String(error) }
}

/** Notice for a lost connection to the host. */
export const noHost = (what: string): Notice => ({
  code: 'NO_HOST',
  what,
  why: 'The Sluice host is not connected',
  unaffected: 'rules on the servers, and input in this window',
})
