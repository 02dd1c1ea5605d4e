/** Streams of the contract by name: query and frame types. */
import type { Client } from '../stores/client.ts'

/** Input common to all streams (contract.ts `stream`). */
export interface StreamHead {
  readonly stream: string
  readonly hz: number
  readonly at: number | null
  readonly ahead: boolean
}
type Procedures = Client['views'] & Pick<Client['source'], 'status'>
type Input<F> = F extends (input: infer I, ...rest: never[]) => unknown ? Omit<NonNullable<I>, keyof StreamHead> : never
type Frame<F> = F extends (...args: never[]) => Promise<AsyncIterable<infer T>> ? T : never

export type StreamName = {
  [N in keyof Procedures]: [Frame<Procedures[N]>] extends [never] ? never : N
}[keyof Procedures]
/** Query of each stream. */
export type Queries = { [N in StreamName]: Input<Procedures[N]> }
/** Frame of each stream. */
export type Frames = { [N in StreamName]: Frame<Procedures[N]> }

type Open<N extends StreamName> = (
  input: StreamHead & Queries[N],
  options: { signal: AbortSignal },
) => Promise<AsyncIterable<Frames[N]>>

/** Opens the named stream. */
export function openStream<N extends StreamName>(
  client: Client,
  name: N,
  input: StreamHead & Queries[N],
  signal: AbortSignal,
): Promise<AsyncIterable<Frames[N]>> {
  const procedures: Pick<Client['views'], Exclude<StreamName, 'status'>> = client.views
  const open = name === 'status' ? client.source.status : procedures[name as Exclude<N, 'status'>]
  // A procedure of the union takes the query of its own name, which the compiler cannot infer.
  return (open as unknown as Open<N>)(input, { signal })
}
