/** The contract of core/api, implemented on one monitor; the same router behind every transport. */
import { implement } from '@orpc/server'
import { contract } from '#core/api/contract.ts'
import type { Failure } from '#core/base/result.ts'
import type { ClusterMonitor } from '../cluster/monitor.ts'
import type { FramePump } from './frame-pump.ts'
import { jobFrame } from './views/job.ts'
import { jobsFrame } from './views/jobs.ts'
import { overviewFrame } from './views/overview.ts'
import { rulesFrame } from './views/rules.ts'
import { statusFrame, type SourceFacts } from './views/status.ts'
import { stripFrame } from './views/strip.ts'

/** What every call comes with. */
export interface PeerContext {
  /** Unique per connection: a window's acknowledgements reach only its own streams. */
  readonly peer: string
}

export interface RouterParts {
  readonly monitor: ClusterMonitor
  readonly pump: FramePump
  readonly facts: SourceFacts
  readonly info: {
    readonly version: string
    readonly runtime: string
    readonly shell: 'desktop' | 'browser' | 'terminal'
  }
  /** undefined where the source has no speed of its own. */
  readonly setSpeed: ((speed: number) => void) | undefined
}

const NO_SPEED: Failure = {
  code: 'NO_SPEED',
  what: 'The speed was not changed',
  why: 'this source is a live cluster',
  next: 'Only the emulator has a speed.',
}

// The return type is what the contract makes of it; naming it would repeat the whole contract.
 
export function makeRouter(parts: RouterParts) {
  const { monitor, pump } = parts
  const os = implement(contract).$context<PeerContext>()
  type Query = { stream: string; hz: number; at: number | null }
  const stream = <Q extends Query, F>(
    { input, context, signal }: { input: Q; context: PeerContext; signal?: AbortSignal | undefined },
    build: (input: Q, seq: number) => F,
  ): AsyncGenerator<F, void, void> =>
    pump.frames(monitor, { ...input, peer: context.peer, still: input.at !== null }, signal, (seq) => build(input, seq))

  return os.router({
    host: {
      info: os.host.info.handler(() => ({ name: 'sluice' as const, ...parts.info })),
      ack: os.host.ack.handler(({ input, context }) => pump.acknowledge(context.peer, input.stream, input.seq)),
    },
    source: {
      // The frame's status follows the newest sample also while the views stand still: that is how age is seen.
      status: os.source.status.handler((call) =>
        stream(call, (input, seq) => statusFrame(monitor, parts.facts, input, seq)),
      ),
      setSpeed: os.source.setSpeed.handler(({ input, errors }) => {
        if (!parts.setSpeed)
          throw errors.NOT_HERE({ message: NO_SPEED.what, data: { ...NO_SPEED } })
        parts.setSpeed(input.speed)
      }),
      setMode: os.source.setMode.handler(({ input }) => monitor.setMode(input.mode)),
      setController: os.source.setController.handler(({ input }) => monitor.setController(input.controller)),
    },
    views: {
      strip: os.views.strip.handler((call) => stream(call, (input, seq) => stripFrame(monitor, input, seq))),
      overview: os.views.overview.handler((call) => stream(call, (input, seq) => overviewFrame(monitor, input, seq))),
      jobs: os.views.jobs.handler((call) => stream(call, (input, seq) => jobsFrame(monitor, input, seq))),
      job: os.views.job.handler((call) => stream(call, (input, seq) => jobFrame(monitor, input, seq))),
      rules: os.views.rules.handler((call) => stream(call, (input, seq) => rulesFrame(monitor, input, seq))),
    },
  })
}
