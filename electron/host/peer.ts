/** Context of every call of the contract, whatever the transport. */
export interface PeerContext {
  /** Unique per connection: a window's acknowledgements reach only its own streams. */
  readonly peer: string
}
