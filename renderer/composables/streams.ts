/** The streams of the contract under one name each: what they take, what they send, how they are opened. */
import type { ConnectionsFrame } from '#core/api/clusters.ts'
import type { JobFrame, JobsFrame, OverviewFrame, RulesFrame, StatusFrame, StripFrame } from '#core/api/frames.ts'
import type { HistoryFrame } from '#core/api/history.ts'
import type { IncidentsFrame } from '#core/api/incidents.ts'
import type { LinkedFrame } from '#core/api/linked.ts'
import type { LocksFrame } from '#core/api/locks.ts'
import type { MetadataFrame } from '#core/api/padll.ts'
import type { ServerFrame } from '#core/api/server-frame.ts'
import type { StagedFrame } from '#core/api/rule-edits.ts'
import type { TokensFrame } from '#core/api/tokens.ts'
import type { Client } from '../stores/client.ts'

/** What every stream takes (contract.ts `stream`). */
export interface StreamHead {
  readonly stream: string
  readonly hz: number
  readonly at: number | null
  readonly ahead: boolean
}
type Input<F> = F extends (input: infer I, ...rest: never[]) => unknown ? Omit<NonNullable<I>, keyof StreamHead> : never
type Views = Client['views']

/** What a window may ask of each stream. */
export interface Queries {
  status: Record<never, never>
  strip: Input<Views['strip']>
  overview: Input<Views['overview']>
  jobs: Input<Views['jobs']>
  job: Input<Views['job']>
  server: Input<Views['server']>
  linked: Input<Views['linked']>
  rules: Input<Views['rules']>
  staged: Input<Views['staged']>
  metadata: Input<Views['metadata']>
  locks: Input<Views['locks']>
  tokens: Input<Views['tokens']>
  history: Input<Views['history']>
  incidents: Input<Views['incidents']>
  connections: Record<never, never>
}
/** What each stream sends. */
export interface Frames {
  status: StatusFrame
  strip: StripFrame
  overview: OverviewFrame
  jobs: JobsFrame
  job: JobFrame
  server: ServerFrame
  linked: LinkedFrame
  rules: RulesFrame
  staged: StagedFrame
  metadata: MetadataFrame
  locks: LocksFrame
  tokens: TokensFrame
  history: HistoryFrame
  incidents: IncidentsFrame
  connections: ConnectionsFrame
}
export type StreamName = keyof Frames

type Open<N extends StreamName> = (
  client: Client,
  input: StreamHead & Queries[N],
  options: { signal: AbortSignal },
) => Promise<AsyncIterable<Frames[N]>>

/** Opens the named stream. */
export const openers: { readonly [N in StreamName]: Open<N> } = {
  status: (client, input, options) => client.source.status(input, options),
  strip: (client, input, options) => client.views.strip(input, options),
  overview: (client, input, options) => client.views.overview(input, options),
  jobs: (client, input, options) => client.views.jobs(input, options),
  job: (client, input, options) => client.views.job(input, options),
  server: (client, input, options) => client.views.server(input, options),
  linked: (client, input, options) => client.views.linked(input, options),
  rules: (client, input, options) => client.views.rules(input, options),
  staged: (client, input, options) => client.views.staged(input, options),
  metadata: (client, input, options) => client.views.metadata(input, options),
  locks: (client, input, options) => client.views.locks(input, options),
  tokens: (client, input, options) => client.views.tokens(input, options),
  history: (client, input, options) => client.views.history(input, options),
  incidents: (client, input, options) => client.views.incidents(input, options),
  connections: (client, input, options) => client.views.connections(input, options),
}
