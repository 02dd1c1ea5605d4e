/**
 * Connection between two programs of the emulated cluster: messages arrive whole, in order, after the link's delay. After a
 * close nothing more is delivered, and the other end is notified a delay later; an end whose host is gone just stops
 * responding.
 */
import type { Link } from '../sim/link.ts'
import type { Simulation } from '../sim/simulation.ts'

/** Callbacks of one end. */
export interface WireEnd<In> {
  readonly onMessage: (message: In) => void
  readonly onClose: () => void
}

/** Operations of one end. */
export interface Wire<Out> {
  send(message: Out): void
  close(): void
}

/** Bytes of a message on the network: a header, and an amount for each entry. */
const HEAD_BYTES = 64
const BYTES_PER_ENTRY = 48

/** Approximate size of a message, bytes: by the entries of its lists, because serializing would cost more than the message. */
export function messageBytes(message: object): number {
  let entries = 1
  for (const value of Object.values(message)) if (Array.isArray(value)) entries += value.length
  return HEAD_BYTES + BYTES_PER_ENTRY * entries
}

/** Links between two nodes, from a to b and back. */
export interface WirePath {
  readonly up: Link
  readonly down: Link
}

interface Side<In> {
  readonly end: WireEnd<In>
  readonly link: Link | undefined
}

/**
 * Connects two ends.
 *
 * @param links  undefined on one node, where a message takes `localNs`.
 * @returns      the sending sides of a and of b.
 */
export function connect<AtoB extends object, BtoA extends object>(
  sim: Simulation,
  a: WireEnd<BtoA>,
  b: WireEnd<AtoB>,
  { links, localNs }: { links?: WirePath | undefined; localNs: number },
): { readonly a: Wire<AtoB>; readonly b: Wire<BtoA> } {
  let isOpen = true
  const half = <Out extends object>(to: Side<Out>): Wire<Out> => {
    const carry = (bytes: number, arrived: () => void): void => {
      if (to.link) to.link.send(bytes, arrived)
      else sim.after(localNs, arrived)
    }
    return {
      send: (message) => {
        if (!isOpen) return
        carry(messageBytes(message), () => {
          if (isOpen) to.end.onMessage(message)
        })
      },
      close: () => {
        if (!isOpen) return
        carry(HEAD_BYTES, () => {
          if (!isOpen) return
          isOpen = false
          to.end.onClose()
        })
      },
    }
  }
  return { a: half({ end: b, link: links?.up }), b: half({ end: a, link: links?.down }) }
}
