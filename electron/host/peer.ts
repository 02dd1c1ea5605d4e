/** What every call of the contract comes with, whatever carries it. */
export interface PeerContext {
  /** Unique per connection: a window's acknowledgements reach only its own streams. */
  readonly peer: string
}
