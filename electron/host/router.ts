/** The contract of core/api, implemented on one monitor; the same router behind every transport. */
import { implement } from '@orpc/server'
import { contract } from '#core/api/contract.ts'
import type { Notice } from '#core/api/frames.ts'
import type { Failure } from '#core/base/result.ts'
import type { ClusterMonitor } from '../cluster/monitor.ts'
import type { FramePump } from './frame-pump.ts'
import type { PeerContext } from './peer.ts'
import type { LockComparison } from './locks/compare.ts'
import { PadllDesk } from './padll/desk.ts'
import type { Papers } from './papers/papers.ts'
import { changeOf } from './views/adaptbf.ts'
import { jobFrame } from './views/job.ts'
import { jobsFrame } from './views/jobs.ts'
import { locksFrame } from './views/locks.ts'
import { metadataFrame } from './views/metadata.ts'
import { overviewFrame } from './views/overview.ts'
import { TokensDesk } from './tokens/desk.ts'
import { checkDraft } from './rules/check.ts'
import type { RuleDesk } from './rules/desk.ts'
import { rulesFrame } from './views/rules.ts'
import { stagedFrame } from './views/staged.ts'
import { statusFrame, toNotice, type SourceFacts } from './views/status.ts'
import { stripFrame } from './views/strip.ts'
import { tokensFrame } from './views/tokens.ts'

export interface RouterParts {
  readonly monitor: ClusterMonitor
  readonly desk: RuleDesk
  readonly papers: Papers
  readonly comparison: LockComparison
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

const refusal = (f: Failure): { message: string; data: Notice } => ({ message: f.what, data: toNotice(f) })

// The return type is what the contract makes of it; naming it would repeat the whole contract.
export function makeRouter(parts: RouterParts) {
  const { monitor, desk, papers, comparison, pump } = parts
  const padll = new PadllDesk(monitor)
  const tokens = new TokensDesk(monitor)
  const os = implement(contract).$context<PeerContext>()
  type Query = { stream: string; hz: number; at: number | null }
  type Call<Q> = { input: Q; context: PeerContext; signal?: AbortSignal | undefined }
  const frames = <Q extends Query, F>(
    { input, context, signal }: Call<Q>,
    kind: { still: boolean; beats: boolean },
    build: (input: Q, seq: number) => F,
  ): AsyncGenerator<F, void, void> =>
    pump.frames(monitor, { ...input, ...kind, peer: context.peer }, signal, (seq) => build(input, seq))
  const stream = <Q extends Query, F>(
    call: Call<Q>,
    build: (input: Q, seq: number) => F,
  ): AsyncGenerator<F, void, void> => frames(call, { still: call.input.at !== null, beats: false }, build)

  return os.router({
    host: {
      info: os.host.info.handler(() => ({ name: 'sluice' as const, ...parts.info })),
      ack: os.host.ack.handler(({ input, context }) => pump.acknowledge(context.peer, input.stream, input.seq)),
    },
    source: {
      // The frame's status follows the newest sample also while the views stand still: that is how age is seen.
      status: os.source.status.handler((call) =>
        frames(call, { still: false, beats: true }, (input, seq) =>
          statusFrame(monitor, { ...parts.facts, staged: desk.staged.count }, input, seq),
        ),
      ),
      setSpeed: os.source.setSpeed.handler(({ input, errors }) => {
        if (!parts.setSpeed) throw errors.REFUSED(refusal(NO_SPEED))
        parts.setSpeed(input.speed)
        monitor.changed()
      }),
      setMode: os.source.setMode.handler(({ input, errors }) => {
        const chosen = monitor.setMode(input.mode)
        monitor.changed()
        if (!chosen.ok) throw errors.REFUSED(refusal(chosen.error))
      }),
      setController: os.source.setController.handler(({ input, errors }) => {
        const chosen = monitor.setController(input.controller)
        monitor.changed()
        if (!chosen.ok) throw errors.REFUSED(refusal(chosen.error))
      }),
      setControllerOptions: os.source.setControllerOptions.handler(({ input, errors }) => {
        const chosen = monitor.setControllerOptions(changeOf(input))
        monitor.changed()
        if (!chosen.ok) throw errors.REFUSED(refusal(chosen.error))
      }),
    },
    views: {
      strip: os.views.strip.handler((call) => stream(call, (input, seq) => stripFrame(monitor, input, seq))),
      overview: os.views.overview.handler((call) => stream(call, (input, seq) => overviewFrame(monitor, input, seq))),
      jobs: os.views.jobs.handler((call) => stream(call, (input, seq) => jobsFrame(monitor, input, seq))),
      job: os.views.job.handler((call) => stream(call, (input, seq) => jobFrame(monitor, input, seq))),
      metadata: os.views.metadata.handler((call) => stream(call, (input, seq) => metadataFrame(monitor, input, seq))),
      locks: os.views.locks.handler((call) => stream(call, (input, seq) => locksFrame(monitor, input, seq))),
      tokens: os.views.tokens.handler((call) => stream(call, (input, seq) => tokensFrame(monitor, input, seq))),
      rules: os.views.rules.handler((call) => stream(call, (input, seq) => rulesFrame(desk, input, seq))),
      // Staged changes are always planned on the newest state.
      staged: os.views.staged.handler((call) =>
        frames(call, { still: false, beats: false }, (input, seq) => stagedFrame(desk, input, seq)),
      ),
    },
    rules: {
      check: os.rules.check.handler(({ input }) => checkDraft(desk, input.service, input.draft)),
      stage: os.rules.stage.handler(({ input, errors }) => {
        const staged = desk.stage(input.service, input.form, input.terms, input.replaces)
        if (!staged.ok) throw errors.REFUSED(refusal(staged.error))
        return { id: staged.value }
      }),
      unstage: os.rules.unstage.handler(({ input }) => desk.unstage(input.service, input.id)),
      commit: os.rules.commit.handler(async ({ input, errors }) => {
        const done = await desk.commit(input.service, input.planId, input.typed)
        if (!done.ok) throw errors.REFUSED(refusal(done.error))
        return done.value
      }),
      undo: os.rules.undo.handler(({ input, errors }) => {
        const staged = desk.undo(input.changeId)
        if (!staged.ok) throw errors.REFUSED(refusal(staged.error))
      }),
    },
    padll: {
      change: os.padll.change.handler(async ({ input, errors }) => {
        const changed = await padll.change(input)
        if (!changed.ok) throw errors.REFUSED(refusal(changed.error))
      }),
      check: os.padll.check.handler(({ input }) => padll.check(input.plane, input.text)),
      apply: os.padll.apply.handler(async ({ input, errors }) => {
        const applied = await padll.apply(input)
        if (!applied.ok) throw errors.REFUSED(refusal(applied.error))
      }),
    },
    locks: {
      compare: os.locks.compare.handler(async ({ input, errors, signal }) => {
        const compared = await comparison.run(input, signal)
        if (!compared.ok) throw errors.REFUSED(refusal(compared.error))
        return compared.value
      }),
    },
    tokens: {
      check: os.tokens.check.handler(({ input, errors }) => {
        const said = tokens.check(input)
        if (!said.ok) throw errors.REFUSED(refusal(said.error))
        return said.value
      }),
      reserve: os.tokens.reserve.handler(({ input, errors }) => {
        const reserved = tokens.reserve(input)
        if (!reserved.ok) throw errors.REFUSED(refusal(reserved.error))
      }),
      change: os.tokens.change.handler(({ input, errors }) => {
        const changed = tokens.change(input)
        if (!changed.ok) throw errors.REFUSED(refusal(changed.error))
      }),
    },
    papers: {
      list: os.papers.list.handler(() => ({ experiments: papers.list() })),
      run: os.papers.run.handler(({ input, errors, signal }) => {
        const run = papers.run(input, signal)
        if (!run.ok) throw errors.REFUSED(refusal(run.error))
        return run.value
      }),
    },
  })
}
