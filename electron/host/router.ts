/** The contract of core/api, implemented on one monitor; the same router behind every transport. */
import type { MachineFacts } from '#core/api/machine.ts'
import { fail, type Failure } from '#core/base/result.ts'
import type { ClusterDesk } from './clusters/desk.ts'
import type { Changing, FramePump } from './frame-pump.ts'
import type { HistoryDesk } from './history/desk.ts'
import type { IncidentDesk } from './incidents/desk.ts'
import type { OnScreen } from './on-screen.ts'
import type { PeerContext } from './peer.ts'
import type { Papers } from './papers/papers.ts'
import type { SandboxDesk } from './sandbox/desk.ts'
import type { ShellDesk } from './shell/desk.ts'
import { enterEnforce } from './sources/other-consoles.ts'
import { stopAll, stopScript } from './sources/stop.ts'
import { changeOf } from './views/adaptbf.ts'
import { implementation, refusal } from './implementation.ts'
import { incidentHandlers } from './router-incidents.ts'
import { shellHandlers } from './router-shell.ts'
import type { SearchDesk } from './search/desk.ts'
import { connectionsFrame } from './views/connections.ts'
import { inTurns } from '../history/in-turns.ts'
import { checkDraftInSteps } from './rules/check.ts'

export interface RouterParts {
  /** The source on screen: every view and verb but those of `clusters` is about it. */
  readonly onScreen: OnScreen
  readonly clusters: ClusterDesk
  readonly papers: Papers
  readonly history: HistoryDesk
  readonly sandbox: SandboxDesk
  readonly incidents: IncidentDesk
  readonly shell: ShellDesk
  /** Where this console keeps things, and what it reads. */
  readonly facts: () => MachineFacts
  readonly search: SearchDesk
  readonly pump: FramePump
  readonly info: {
    readonly version: string
    readonly runtime: string
    readonly shell: 'desktop' | 'browser' | 'terminal'
  }
}

const NO_SPEED: Failure = {
  code: 'NO_SPEED',
  what: 'The speed was not changed',
  why: 'this source is a live cluster',
  next: 'Only the emulator has a speed.',
}

const NOT_LOCKED: Failure = {
  code: 'NOT_LOCKED',
  what: 'There is nothing to unlock',
  why: 'this source writes without an unlock',
  next: 'Choose the mode.',
}

// The return type is what the contract makes of it; naming it would repeat the whole contract.
export function makeRouter(parts: RouterParts) {
  const { onScreen, clusters, papers, history, sandbox, incidents, pump } = parts
  const os = implementation(() => onScreen.playback !== undefined)
  type Query = { stream: string; hz: number; at: number | null; ahead: boolean }
  type Call<Q> = { input: Q; context: PeerContext; signal?: AbortSignal | undefined }
  const frames = <Q extends Query, F>(
    { input, context, signal }: Call<Q>,
    kind: { stands: boolean; beats: boolean },
    build: (input: Q, seq: number) => F,
    of: Changing = onScreen,
  ): AsyncGenerator<F & { turn?: number; isAhead?: boolean }, void, void> =>
    pump.frames(of, { ...input, ...kind, peer: context.peer }, signal, (seq, at, isAhead) => ({
      ...build({ ...input, at }, seq),
      ...(of === onScreen ? { turn: onScreen.turn } : {}),
      ...(isAhead ? { isAhead } : {}),
    }))
  const stream = <Q extends Query, F>(
    call: Call<Q>,
    build: (input: Q, seq: number) => F,
  ): AsyncGenerator<F & { turn?: number; isAhead?: boolean }, void, void> =>
    frames(call, { stands: true, beats: false }, build)

  return os.router({
    host: {
      info: os.host.info.handler(() => ({ name: 'sluice' as const, ...parts.info })),
      ack: os.host.ack.handler(({ input, context }) => pump.acknowledge(context.peer, input.stream, input.seq)),
    },
    source: {
      // The frame's status follows the newest sample also while the views stand still: that is how age is seen.
      status: os.source.status.handler((call) =>
        frames(call, { stands: false, beats: true }, (input, seq) => onScreen.views.status(input, seq)),
      ),
      setSpeed: os.source.setSpeed.handler(({ input, errors }) => {
        const { setSpeed, monitor } = onScreen.console
        if (!setSpeed) throw errors.REFUSED(refusal(NO_SPEED))
        setSpeed(input.speed)
        monitor.changed()
      }),
      setMode: os.source.setMode.handler(async ({ input, errors }) => {
        const { console } = onScreen
        const { monitor } = console
        const chosen =
          input.mode === 'enforce' ? await enterEnforce(console, input.takeOver) : monitor.setMode(input.mode)
        monitor.changed()
        if (!chosen.ok) throw errors.REFUSED(refusal(chosen.error))
      }),
      unlock: os.source.unlock.handler(({ input, errors }) => {
        const { guard } = onScreen.console
        const unlocked = guard ? guard.unlock(input.typed) : fail(NOT_LOCKED)
        clusters.changed()
        onScreen.monitor.changed()
        if (!unlocked.ok) throw errors.REFUSED(refusal(unlocked.error))
        return { untilMs: unlocked.value }
      }),
      lock: os.source.lock.handler(() => {
        onScreen.console.guard?.lock()
        onScreen.monitor.changed()
      }),
      stopAll: os.source.stopAll.handler(async ({ errors }) => {
        const stopped = await stopAll(onScreen.console)
        onScreen.monitor.changed()
        if (!stopped.ok) throw errors.REFUSED(refusal(stopped.error))
        return stopped.value
      }),
      stopScript: os.source.stopScript.handler(() => stopScript(onScreen.console)),
      setController: os.source.setController.handler(({ input, errors }) => {
        const { monitor } = onScreen
        const chosen = monitor.setController(input.controller)
        monitor.changed()
        if (!chosen.ok) throw errors.REFUSED(refusal(chosen.error))
      }),
      setControllerOptions: os.source.setControllerOptions.handler(({ input, errors }) => {
        const { monitor } = onScreen
        const chosen = monitor.setControllerOptions(changeOf(input))
        monitor.changed()
        if (!chosen.ok) throw errors.REFUSED(refusal(chosen.error))
      }),
    },
    views: {
      stand: os.views.stand.handler(({ input, context }) => pump.stand(context.peer, input.stream, input.at)),
      history: os.views.history.handler((call) =>
        frames(call, { stands: false, beats: false }, (input, seq) => history.frame(input, seq)),
      ),
      incidents: os.views.incidents.handler((call) =>
        frames(call, { stands: false, beats: false }, (input, seq) => incidents.frame(input, seq), incidents),
      ),
      connections: os.views.connections.handler((call) =>
        frames(call, { stands: false, beats: true }, (input, seq) => connectionsFrame(clusters, input, seq), clusters),
      ),
      strip: os.views.strip.handler((call) => stream(call, (input, seq) => onScreen.views.strip(input, seq))),
      overview: os.views.overview.handler((call) => stream(call, (input, seq) => onScreen.views.overview(input, seq))),
      jobs: os.views.jobs.handler((call) => stream(call, (input, seq) => onScreen.views.jobs(input, seq))),
      job: os.views.job.handler((call) => stream(call, (input, seq) => onScreen.views.job(input, seq))),
      server: os.views.server.handler((call) => stream(call, (input, seq) => onScreen.views.server(input, seq))),
      linked: os.views.linked.handler((call) => stream(call, (input, seq) => onScreen.views.linked(input, seq))),
      metadata: os.views.metadata.handler((call) => stream(call, (input, seq) => onScreen.views.metadata(input, seq))),
      locks: os.views.locks.handler((call) => stream(call, (input, seq) => onScreen.views.locks(input, seq))),
      tokens: os.views.tokens.handler((call) => stream(call, (input, seq) => onScreen.views.tokens(input, seq))),
      rules: os.views.rules.handler((call) => stream(call, (input, seq) => onScreen.views.rules(input, seq))),
      // Staged changes are always planned on the newest state.
      staged: os.views.staged.handler((call) =>
        frames(call, { stands: false, beats: false }, (input, seq) => onScreen.views.staged(input, seq)),
      ),
    },
    rules: {
      check: os.rules.check.handler(({ input }) =>
        inTurns(checkDraftInSteps(onScreen.console.desk, input.service, input.draft)),
      ),
      stage: os.rules.stage.handler(({ input, errors }) => {
        const staged = onScreen.console.desk.stage(input.service, input.form, input.terms, input.replaces)
        if (!staged.ok) throw errors.REFUSED(refusal(staged.error))
        return { id: staged.value }
      }),
      stagePolicy: os.rules.stagePolicy.handler(({ input, errors }) => {
        const [name = '', ...arg] = input.policy.trim().split(/ +/)
        const to = { name, arg: arg.join(' ') }
        const staged = onScreen.console.desk.policies.stage(input.service, to, input.reason)
        if (!staged.ok) throw errors.REFUSED(refusal(staged.error))
        return { id: staged.value }
      }),
      unstage: os.rules.unstage.handler(({ input }) => onScreen.console.desk.unstage(input.service, input.id)),
      restore: os.rules.restore.handler(({ input, errors }) => {
        const back = onScreen.console.desk.restore(input.service, input.ids, input.replaces)
        if (!back.ok) throw errors.REFUSED(refusal(back.error))
      }),
      commit: os.rules.commit.handler(async ({ input, errors }) => {
        const done = await onScreen.console.desk.commit(input.service, input.planId, input.typed)
        if (!done.ok) throw errors.REFUSED(refusal(done.error))
        return done.value
      }),
      cancel: os.rules.cancel.handler(() => onScreen.console.desk.cancel()),
      undo: os.rules.undo.handler(({ input, errors }) => {
        const staged = onScreen.console.desk.undo(input.changeId)
        if (!staged.ok) throw errors.REFUSED(refusal(staged.error))
      }),
    },
    padll: {
      change: os.padll.change.handler(async ({ input, errors }) => {
        // Whether it is still unlocked: a lock takes it out of enforce.
        onScreen.console.guard?.look()
        const changed = await onScreen.console.padll.change(input)
        if (!changed.ok) throw errors.REFUSED(refusal(changed.error))
      }),
      check: os.padll.check.handler(({ input }) => onScreen.console.padll.check(input.plane, input.text)),
      apply: os.padll.apply.handler(async ({ input, errors }) => {
        onScreen.console.guard?.look()
        const applied = await onScreen.console.padll.apply(input)
        if (!applied.ok) throw errors.REFUSED(refusal(applied.error))
      }),
    },
    locks: {
      compare: os.locks.compare.handler(async ({ input, errors, signal }) => {
        const compared = await onScreen.console.comparison.run(input, signal)
        if (!compared.ok) throw errors.REFUSED(refusal(compared.error))
        return compared.value
      }),
    },
    tokens: {
      check: os.tokens.check.handler(({ input, errors }) => {
        const said = onScreen.console.tokens.check(input)
        if (!said.ok) throw errors.REFUSED(refusal(said.error))
        return said.value
      }),
      reserve: os.tokens.reserve.handler(({ input, errors }) => {
        const reserved = onScreen.console.tokens.reserve(input)
        if (!reserved.ok) throw errors.REFUSED(refusal(reserved.error))
      }),
      change: os.tokens.change.handler(({ input, errors }) => {
        const changed = onScreen.console.tokens.change(input)
        if (!changed.ok) throw errors.REFUSED(refusal(changed.error))
      }),
    },
    clusters: {
      aliases: os.clusters.aliases.handler(() => clusters.aliases()),
      save: os.clusters.save.handler(async ({ input, errors }) => {
        const saved = await clusters.save(input.cluster, input.replaces)
        if (!saved.ok) throw errors.REFUSED(refusal(saved.error))
      }),
      remove: os.clusters.remove.handler(async ({ input, errors }) => {
        const removed = await clusters.remove(input.name)
        if (!removed.ok) throw errors.REFUSED(refusal(removed.error))
      }),
      connect: os.clusters.connect.handler(({ input, errors }) => {
        const begun = clusters.connect(input.name)
        if (!begun.ok) throw errors.REFUSED(refusal(begun.error))
      }),
      disconnect: os.clusters.disconnect.handler(async ({ input, errors }) => {
        const ended = await clusters.disconnect(input.name)
        if (!ended.ok) throw errors.REFUSED(refusal(ended.error))
      }),
      show: os.clusters.show.handler(({ input, errors }) => {
        const shown = clusters.show(input.name)
        if (!shown.ok) throw errors.REFUSED(refusal(shown.error))
      }),
      check: os.clusters.check.handler(({ input, signal }) => clusters.check(input, signal)),
      trust: os.clusters.trust.handler(({ input, errors }) => {
        const trusted = clusters.trust(input)
        if (!trusted.ok) throw errors.REFUSED(refusal(trusted.error))
      }),
      passphrase: os.clusters.passphrase.handler(async ({ input, errors }) => {
        const answered = await clusters.asks.answer(input.id, input.passphrase, input.remember)
        if (!answered.ok) throw errors.REFUSED(refusal(answered.error))
      }),
      setProbe: os.clusters.setProbe.handler(async ({ input, errors }) => {
        const set = await clusters.setProbe(input.name, input.probe, input.on)
        if (!set.ok) throw errors.REFUSED(refusal(set.error))
      }),
      setSafeMode: os.clusters.setSafeMode.handler(async ({ input, errors }) => {
        const set = await clusters.setSafeMode(input.name, input.safeMode)
        if (!set.ok) throw errors.REFUSED(refusal(set.error))
      }),
      setAllowRoot: os.clusters.setAllowRoot.handler(async ({ input, errors }) => {
        const set = await clusters.setAllowRoot(input.name, input.allow, input.typed)
        if (!set.ok) throw errors.REFUSED(refusal(set.error))
      }),
      clean: os.clusters.clean.handler(async ({ input, errors }) => {
        const cleaned = await clusters.clean(input.name, input.keys, input.typed)
        if (!cleaned.ok) throw errors.REFUSED(refusal(cleaned.error))
        return { nodes: [...cleaned.value] }
      }),
    },
    history: {
      goTo: os.history.goTo.handler(({ input, errors }) => {
        const stood = history.goTo(input.atMs)
        if (!stood.ok) throw errors.REFUSED(refusal(stood.error))
        return { ...stood.value, turn: onScreen.turn }
      }),
      event: os.history.event.handler(({ input }) => ({ atMs: history.event(input.atMs, input.direction) })),
      open: os.history.open.handler(async ({ input, errors }) => {
        const opened = await history.open(input.name)
        if (!opened.ok) throw errors.REFUSED(refusal(opened.error))
      }),
      leave: os.history.leave.handler(() => history.leave()),
      note: os.history.note.handler(({ input, errors }) => {
        const noted = history.note(input.atMs, input.text)
        if (!noted.ok) throw errors.REFUSED(refusal(noted.error))
      }),
      setKeep: os.history.setKeep.handler(({ input, errors }) => {
        const set = history.setKeep(input.tier, input.keepMs)
        if (!set.ok) throw errors.REFUSED(refusal(set.error))
      }),
      setQuota: os.history.setQuota.handler(({ input, errors }) => {
        const set = history.setQuota(input.bytes)
        if (!set.ok) throw errors.REFUSED(refusal(set.error))
      }),
      record: os.history.record.handler(async ({ input, errors }) => {
        const written = await history.record(input.name, input.span)
        if (!written.ok) throw errors.REFUSED(refusal(written.error))
        return written.value
      }),
      removeRecording: os.history.removeRecording.handler(({ input, errors }) => {
        const removed = history.removeRecording(input.name)
        if (!removed.ok) throw errors.REFUSED(refusal(removed.error))
      }),
      csv: os.history.csv.handler(({ input, errors }) => {
        const csv = history.csv(input)
        if (!csv.ok) throw errors.REFUSED(refusal(csv.error))
        return csv.value
      }),
    },
    sandbox: {
      gallery: os.sandbox.gallery.handler(() => ({ entries: sandbox.gallery() })),
      open: os.sandbox.open.handler(({ input, errors }) => {
        const opened = sandbox.open(input.id)
        if (!opened.ok) throw errors.REFUSED(refusal(opened.error))
        return opened.value
      }),
      check: os.sandbox.check.handler(({ input }) => sandbox.check(input.text)),
      leaveOut: os.sandbox.leaveOut.handler(async ({ input, errors }) => {
        const left = await sandbox.leaveOut(input.text, input.jobIds)
        if (!left.ok) throw errors.REFUSED(refusal(left.error))
        return left.value
      }),
      complete: os.sandbox.complete.handler(({ input }) => sandbox.complete(input.text, input.line, input.column)),
      fork: os.sandbox.fork.handler(async ({ input, errors }) => {
        const forked = await sandbox.fork(input)
        if (!forked.ok) throw errors.REFUSED(refusal(forked.error))
        return forked.value
      }),
      run: os.sandbox.run.handler(({ input, errors, signal }) => {
        const run = sandbox.run(input, signal)
        if (!run.ok) throw errors.REFUSED(refusal(run.error))
        return run.value
      }),
      calibrate: os.sandbox.calibrate.handler(({ input, signal }) => sandbox.calibrate(input, signal)),
      stage: os.sandbox.stage.handler(({ input, errors }) => {
        const staged = sandbox.stage(input.variant, input.verdict, input.expireMinutes, input.run)
        if (!staged.ok) throw errors.REFUSED(refusal(staged.error))
        return staged.value
      }),
      save: os.sandbox.save.handler(({ input, errors }) => {
        const saved = sandbox.save(input.name, input.text, input.replace)
        if (!saved.ok) throw errors.REFUSED(refusal(saved.error))
        return saved.value
      }),
      remove: os.sandbox.remove.handler(({ input, errors }) => {
        const removed = sandbox.remove(input.id)
        if (!removed.ok) throw errors.REFUSED(refusal(removed.error))
      }),
      export: os.sandbox.export.handler(({ input, errors }) => {
        const written = sandbox.export(input.id, input.format)
        if (!written.ok) throw errors.REFUSED(refusal(written.error))
        return written.value
      }),
    },
    incidents: incidentHandlers(os, incidents),
    shell: shellHandlers(os, parts.shell),
    machine: { facts: os.machine.facts.handler(() => parts.facts()) },
    search: { find: os.search.find.handler(({ input }) => parts.search.find(input.text, input.limit)) },
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
