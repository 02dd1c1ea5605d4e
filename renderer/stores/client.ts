/** Client of the host: the contract's procedures, typed from the one schema. */
import type { ContractRouterClient } from '@orpc/contract'
import type { Contract } from '#core/api/contract.ts'

/** Calls the host; the same over a WebSocket and a MessagePort. */
export type Client = ContractRouterClient<Contract>

/** Wraps the proxy client, which answers to every property name, so that Vue does not take it for a ref. */
export interface Host {
  readonly api: Client
}
