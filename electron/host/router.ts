/** Router of the contract in core/api on one monitor; the same for every transport. */
import type { MachineFacts } from '#core/api/machine.ts'
import { fail, type Failure } from '#core/base/result.ts'
import type { ClusterService } from './clusters/cluster-service.ts'
import type { Changing, FramePump } from './frame-pump.ts'
import type { HistoryService } from './history/history-service.ts'
import type { IncidentService } from './incidents/incident-service.ts'
import type { ActiveView } from './active-view.ts'
import type { PeerContext } from './peer.ts'
import type { Papers } from './papers/papers.ts'
import type { SandboxService } from './sandbox/sandbox-service.ts'
import type { ShellService } from './shell/shell-service.ts'
import { startClearing } from './sources/clear-counters.ts'
import { enterEnforce } from './sources/other-consoles.ts'
import { stopAll, stopScript } from './sources/stop.ts'
import { changeOf } from './views/adaptbf.ts'
import { accepted, implementation, type Implementation } from './implementation.ts'
import type { SearchService } from './search/search-service.ts'
import { connectionsFrame } from './views/connections.ts'
import { runCooperatively } from '../history/cooperative.ts'
import { checkDraftInSteps } from './rules/check.ts'

export interface RouterParts {
  /** Active source: every view and verb except those of `clusters` is about it. */
  readonly onScreen: ActiveView
  readonly clusters: ClusterService
  readonly papers: Papers
  readonly history: HistoryService
  readonly sandbox: SandboxService
  readonly incidents: IncidentService
  readonly shell: ShellService
  /** Locations of the console's files, and of files that it reads. */
  readonly facts: () => MachineFacts
  readonly search: SearchService
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
  why: 'this source needs no unlock',
  next: 'Choose the mode.',
}

// The contract determines the return type; naming it would repeat the whole contract.
export function makeRouter(parts: RouterParts) {
  const { onScreen, clusters, papers, history, sandbox, incidents, pump } = parts
  const os = implementation(() => onScreen.playback !== undefined)
  type Query = { stream: string; hz: number; at: number | null; ahead: boolean }
  type Call<Q> = { input: Q; context: PeerContext; signal?: AbortSignal | undefined }
  const frames = <Q extends Query, F>(
    { input, context, signal }: Call<Q>,
    kind: { isFixed: boolean; beats: boolean },
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
    frames(call, { isFixed: true, beats: false }, build)

  return os.router({
    host: {
      info: os.host.info.handler(() => ({ name: 'sluice' as const, ...parts.info })),
      ack: os.host.ack.handler(({ input, context }) => pump.acknowledge(context.peer, input.stream, input.seq)),
    },
    source: {
      // The status frame follows the newest sample even if the views are paused, so that the age of data is visible.
      status: os.source.status.handler((call) =>
        frames(call, { isFixed: false, beats: true }, (input, seq) => onScreen.views.status(input, seq)),
      ),
      setSpeed: os.source.setSpeed.handler(({ input }) => {
        const { setSpeed, monitor } = onScreen.console
        if (!setSpeed) return accepted(fail(NO_SPEED))
        setSpeed(input.speed)
        monitor.changed()
      }),
      setMode: os.source.setMode.handler(async ({ input }) => {
        const { console } = onScreen
        const { monitor } = console
        const chosen =
          input.mode === 'enforce' ? await enterEnforce(console, input.takeOver) : monitor.setMode(input.mode)
        monitor.changed()
        accepted(chosen)
      }),
      unlock: os.source.unlock.handler(({ input }) => {
        const { writeProtection } = onScreen.console
        const unlocked = writeProtection ? writeProtection.unlock(input.typed) : fail(NOT_LOCKED)
        clusters.changed()
        onScreen.monitor.changed()
        return { untilMs: accepted(unlocked) }
      }),
      lock: os.source.lock.handler(() => {
        onScreen.console.writeProtection?.lock()
        onScreen.monitor.changed()
      }),
      stopAll: os.source.stopAll.handler(async () => {
        const stopped = await stopAll(onScreen.console)
        onScreen.monitor.changed()
        return accepted(stopped)
      }),
      stopScript: os.source.stopScript.handler(() => stopScript(onScreen.console)),
      setController: os.source.setController.handler(({ input }) => {
        const { monitor } = onScreen
        const chosen = monitor.setController(input.controller)
        monitor.changed()
        accepted(chosen)
      }),
      setControllerOptions: os.source.setControllerOptions.handler(({ input }) => {
        const { monitor } = onScreen
        const chosen = monitor.setControllerOptions(changeOf(input))
        monitor.changed()
        accepted(chosen)
      }),
      startClearing: os.source.startClearing.handler(async ({ input }) => {
        const source = onScreen.console
        const started = await startClearing(source, input.typed)
        source.monitor.changed()
        accepted(started)
      }),
      endClearing: os.source.endClearing.handler(() => {
        const { monitor } = onScreen.console
        monitor.loop.clearing.end()
        monitor.changed()
      }),
    },
    views: {
      stand: os.views.stand.handler(({ input, context }) => pump.seek(context.peer, input.stream, input.at)),
      history: os.views.history.handler((call) =>
        frames(call, { isFixed: false, beats: false }, (input, seq) => history.frame(input, seq)),
      ),
      incidents: os.views.incidents.handler((call) =>
        frames(call, { isFixed: false, beats: false }, (input, seq) => incidents.frame(input, seq), incidents),
      ),
      connections: os.views.connections.handler((call) =>
        frames(call, { isFixed: false, beats: true }, (input, seq) => connectionsFrame(clusters, input, seq), clusters),
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
        frames(call, { isFixed: false, beats: false }, (input, seq) => onScreen.views.staged(input, seq)),
      ),
    },
    rules: {
      check: os.rules.check.handler(({ input }) =>
        runCooperatively(checkDraftInSteps(onScreen.console.ruleService, input.service, input.draft)),
      ),
      stage: os.rules.stage.handler(({ input }) => {
        const staged = accepted(
          onScreen.console.ruleService.stage(input.service, input.form, input.terms, input.replaces),
        )
        return { id: staged }
      }),
      stagePolicy: os.rules.stagePolicy.handler(({ input }) => {
        const [name = '', ...arg] = input.policy.trim().split(/ +/)
        const to = { name, arg: arg.join(' ') }
        const staged = accepted(onScreen.console.ruleService.policies.stage(input.service, to, input.reason))
        return { id: staged }
      }),
      unstage: os.rules.unstage.handler(({ input }) => onScreen.console.ruleService.unstage(input.service, input.id)),
      restore: os.rules.restore.handler(({ input }) => {
        accepted(onScreen.console.ruleService.restore(input.service, input.ids, input.replaces))
      }),
      commit: os.rules.commit.handler(async ({ input }) =>
        accepted(await onScreen.console.ruleService.commit(input.service, input.planId, input.typed)),
      ),
      cancel: os.rules.cancel.handler(() => onScreen.console.ruleService.cancel()),
      undo: os.rules.undo.handler(({ input }) => {
        accepted(onScreen.console.ruleService.undo(input.changeId))
      }),
    },
    padll: {
      change: os.padll.change.handler(async ({ input }) => {
        // Checks the unlock: a lock leaves enforce.
        onScreen.console.writeProtection?.look()
        accepted(await onScreen.console.padll.change(input))
      }),
      check: os.padll.check.handler(({ input }) => onScreen.console.padll.check(input.plane, input.text)),
      apply: os.padll.apply.handler(async ({ input }) => {
        onScreen.console.writeProtection?.look()
        accepted(await onScreen.console.padll.apply(input))
      }),
    },
    locks: {
      compare: os.locks.compare.handler(async ({ input, signal }) =>
        accepted(await onScreen.console.comparison.run(input, signal)),
      ),
    },
    tokens: {
      check: os.tokens.check.handler(({ input }) => accepted(onScreen.console.tokens.check(input))),
      reserve: os.tokens.reserve.handler(async ({ input }) => {
        accepted(await onScreen.console.tokens.reserve(input))
      }),
      change: os.tokens.change.handler(({ input }) => {
        accepted(onScreen.console.tokens.change(input))
      }),
    },
    clusters: {
      aliases: os.clusters.aliases.handler(() => clusters.aliases()),
      save: os.clusters.save.handler(async ({ input }) => {
        accepted(await clusters.save(input.cluster, input.replaces))
      }),
      remove: os.clusters.remove.handler(async ({ input }) => {
        accepted(await clusters.remove(input.name))
      }),
      connect: os.clusters.connect.handler(({ input }) => {
        void accepted(clusters.connect(input.name))
      }),
      disconnect: os.clusters.disconnect.handler(async ({ input }) => {
        accepted(await clusters.disconnect(input.name))
      }),
      show: os.clusters.show.handler(({ input }) => {
        accepted(clusters.show(input.name))
      }),
      play: os.clusters.play.handler(async ({ input }) => {
        accepted(await clusters.play(accepted(sandbox.open(input.scenario)).text))
      }),
      check: os.clusters.check.handler(({ input, signal }) => clusters.check(input, signal)),
      trust: os.clusters.trust.handler(({ input }) => {
        accepted(clusters.trust(input))
      }),
      passphrase: os.clusters.passphrase.handler(async ({ input }) => {
        accepted(await clusters.asks.answer(input.id, input.passphrase, input.remember))
      }),
      setProbe: os.clusters.setProbe.handler(async ({ input }) => {
        accepted(await clusters.setProbe(input.name, input.probe, input.on))
      }),
      setMaxRate: os.clusters.setMaxRate.handler(async ({ input }) => {
        accepted(await clusters.setMaxRate(input.name, input.maxRate))
      }),
      setSafeMode: os.clusters.setSafeMode.handler(async ({ input }) => {
        accepted(await clusters.setSafeMode(input.name, input.safeMode))
      }),
      setAllowRoot: os.clusters.setAllowRoot.handler(async ({ input }) => {
        accepted(await clusters.setAllowRoot(input.name, input.allow, input.typed))
      }),
      clean: os.clusters.clean.handler(async ({ input }) => {
        const cleaned = accepted(await clusters.clean(input.name, input.keys, input.typed))
        return { nodes: [...cleaned] }
      }),
    },
    history: {
      goTo: os.history.goTo.handler(({ input }) => {
        const position = accepted(history.goTo(input.atMs))
        return { ...position, turn: onScreen.turn }
      }),
      event: os.history.event.handler(({ input }) => ({ atMs: history.event(input.atMs, input.direction) })),
      open: os.history.open.handler(async ({ input }) => {
        accepted(await history.open(input.name))
      }),
      leave: os.history.leave.handler(() => history.leave()),
      note: os.history.note.handler(({ input }) => {
        accepted(history.note(input.atMs, input.text))
      }),
      setKeep: os.history.setKeep.handler(({ input }) => {
        accepted(history.setKeep(input.tier, input.keepMs))
      }),
      setQuota: os.history.setQuota.handler(({ input }) => {
        accepted(history.setQuota(input.bytes))
      }),
      record: os.history.record.handler(async ({ input }) => accepted(await history.record(input.name, input.span))),
      removeRecording: os.history.removeRecording.handler(({ input }) => {
        accepted(history.removeRecording(input.name))
      }),
      csv: os.history.csv.handler(({ input }) => accepted(history.csv(input))),
    },
    sandbox: {
      gallery: os.sandbox.gallery.handler(() => ({ entries: sandbox.gallery() })),
      open: os.sandbox.open.handler(({ input }) => accepted(sandbox.open(input.id))),
      check: os.sandbox.check.handler(({ input }) => sandbox.check(input.text)),
      leaveOut: os.sandbox.leaveOut.handler(async ({ input }) =>
        accepted(await sandbox.leaveOut(input.text, input.jobIds)),
      ),
      complete: os.sandbox.complete.handler(({ input }) => sandbox.complete(input.text, input.line, input.column)),
      fork: os.sandbox.fork.handler(async ({ input }) => accepted(await sandbox.fork(input))),
      run: os.sandbox.run.handler(({ input, signal }) => accepted(sandbox.run(input, signal))),
      calibrate: os.sandbox.calibrate.handler(({ input, signal }) => sandbox.calibrate(input, signal)),
      stage: os.sandbox.stage.handler(({ input }) =>
        accepted(sandbox.stage(input.variant, input.verdict, input.expireMinutes, input.run)),
      ),
      save: os.sandbox.save.handler(({ input }) => accepted(sandbox.save(input.name, input.text, input.replace))),
      remove: os.sandbox.remove.handler(({ input }) => {
        accepted(sandbox.remove(input.id))
      }),
      export: os.sandbox.export.handler(({ input }) => accepted(sandbox.export(input.id, input.format))),
    },
    incidents: incidentHandlers(os, incidents),
    shell: shellHandlers(os, parts.shell),
    machine: { facts: os.machine.facts.handler(() => parts.facts()) },
    search: { find: os.search.find.handler(({ input }) => parts.search.find(input.text, input.limit)) },
    papers: {
      list: os.papers.list.handler(() => ({ experiments: papers.list() })),
      run: os.papers.run.handler(({ input, signal }) => accepted(papers.run(input, signal))),
    },
  })
}

/** Handlers of verbs of the desktop shell. */
// The contract determines the return type, as for the whole router.
function shellHandlers(os: Implementation, shell: ShellService) {
  return {
    about: os.shell.about.handler(() => shell.about()),
    save: os.shell.save.handler(async ({ input, context }) => {
      const begun = accepted(await shell.saves.begin(context.peer, input.name, input.bytes))
      return { id: begun }
    }),
    put: os.shell.put.handler(async ({ input, context }) => {
      const taken = accepted(await shell.saves.put(context.peer, input))
      return { name: taken }
    }),
    drop: os.shell.drop.handler(({ input, context }) => shell.saves.drop(context.peer, input.id)),
    setMenu: os.shell.setMenu.handler(({ input }) => shell.setMenu(input)),
    openLink: os.shell.openLink.handler(async ({ input }) => {
      accepted(await shell.openLink(input.url))
    }),
    forgetSecrets: os.shell.forgetSecrets.handler(({ input }) => {
      const forgotten = accepted(shell.secrets.forget(input.file))
      return { forgotten }
    }),
    events: os.shell.events.handler(({ signal }) => shell.events(signal)),
  }
}

/** Handlers of incident verbs. */
// The contract determines the return type, as for the whole router.
function incidentHandlers(os: Implementation, { notebooks, alerts, bundles }: IncidentService) {
  return {
    create: os.incidents.create.handler(async ({ input }) => accepted(await notebooks.createCooperatively(input))),
    change: os.incidents.change.handler(({ input: { id, ...change } }) => {
      accepted(notebooks.change(id, change))
    }),
    remove: os.incidents.remove.handler(({ input }) => {
      accepted(notebooks.remove(input.id))
    }),
    restore: os.incidents.restore.handler(({ input }) => {
      accepted(notebooks.restore(input.id))
    }),
    addCell: os.incidents.addCell.handler(({ input }) =>
      accepted(notebooks.addCell(input.id, input.atMs, input.cell, input.behind)),
    ),
    editCell: os.incidents.editCell.handler(({ input }) => {
      accepted(notebooks.editCell(input.id, input.cell, input.text))
    }),
    moveCell: os.incidents.moveCell.handler(({ input }) => {
      accepted(notebooks.moveCell(input.id, input.cell, input.by))
    }),
    removeCell: os.incidents.removeCell.handler(({ input }) => {
      accepted(notebooks.removeCell(input.id, input.cell))
    }),
    restoreCell: os.incidents.restoreCell.handler(({ input }) => {
      accepted(notebooks.restoreCell(input.id, input.cell))
    }),
    alertRules: os.incidents.alertRules.handler(() => ({ rules: alerts.rules() })),
    setAlertRule: os.incidents.setAlertRule.handler(({ input }) => {
      accepted(alerts.setRule(input))
    }),
    preview: os.incidents.preview.handler(async ({ input }) => accepted(await bundles.preview(input))),
    export: os.incidents.export.handler(({ input, signal }) => accepted(bundles.export(input, signal))),
    markdown: os.incidents.markdown.handler(async ({ input }) => accepted(await bundles.markdown(input))),
    read: os.incidents.read.handler(({ input }) => accepted(bundles.read(input.name))),
    put: os.incidents.put.handler(async ({ input }) => {
      accepted(await bundles.put(input))
    }),
    verify: os.incidents.verify.handler(async ({ input }) => accepted(await bundles.verify(input.name))),
    open: os.incidents.open.handler(async ({ input }) => {
      accepted(await bundles.open(input.name))
    }),
    removeBundle: os.incidents.removeBundle.handler(({ input }) => {
      accepted(bundles.remove(input.name))
    }),
  }
}
