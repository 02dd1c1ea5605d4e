/** The host as the window sees it: the contract's procedures, typed from the one schema. */
import type { ContractRouterClient } from '@orpc/contract'
import type { Contract } from '#core/api/contract.ts'

/** Calls the host; the same over a WebSocket and a MessagePort. */
export type Client = ContractRouterClient<Contract>

/** The client in a box: it answers to every property name, so Vue would take it for a ref if it lay open in one. */
export interface Host {
  readonly api: Client
}
