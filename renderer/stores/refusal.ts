/** What a verb that the host did not carry out has to say, whatever was thrown. */
import { ORPCError } from '@orpc/client'
import type { Notice } from '#core/api/frames.ts'

/** @param what  what did not happen, in words, for a failure that names nothing itself. */
export function refusal(what: string, error: unknown): Notice {
  if (error instanceof ORPCError && error.defined) return error.data as Notice // the contract's REFUSED
  return { code: 'NOT_DONE', what, why: error instanceof Error ? error.message : String(error) }
}

/** The line to the host is gone. */
export const noHost = (what: string): Notice => ({
  code: 'NO_HOST',
  what,
  why: 'The host is not connected',
  unaffected: 'rules on the servers, and what is typed here',
})
