/** What the command palette offers: verbs first, then the jobs that are on screen. */
import {
  FilePenLine,
  CalendarClock,
  FileArchive,
  FlaskConical,
  Gauge,
  Keyboard,
  LayoutDashboard,
  ListChecks,
  Lock,
  NotebookPen,
  OctagonX,
  Palette,
  Pause,
  Pin,
  Plug,
  Plus,
  Rows3,
  SlidersHorizontal,
  Undo2,
} from '@lucide/vue'
import { computed, type Component } from 'vue'
import { useRouter } from 'vue-router'
import { useDryRun } from '../composables/use-dry-run.ts'
import { useExportBundle } from '../composables/use-export-bundle.ts'
import { onScreenJobs } from '../composables/on-screen-jobs.ts'
import { useCompareStore } from '../stores/compare.ts'
import { useConnectionsStore } from '../stores/connections.ts'
import { useEnforcementStore } from '../stores/enforcement.ts'
import { useIncidentsStore } from '../stores/incidents.ts'
import { useLocksStore } from '../stores/locks.ts'
import { useMetadataStore } from '../stores/metadata.ts'
import { useNoteStore } from '../stores/note.ts'
import { useSandboxRunStore } from '../stores/sandbox-run.ts'
import { useSandboxStore } from '../stores/sandbox.ts'
import { useRuleDraftStore } from '../stores/rule-draft.ts'
import { useRulesViewStore } from '../stores/rules-view.ts'
import { useSelectionStore } from '../stores/selection.ts'
import { densities, themes, useSettingsStore } from '../stores/settings.ts'
import { controllerNames, modeNames, speeds, useSourceStore } from '../stores/source.ts'
import { useTimeStore, windows } from '../stores/time.ts'
import { plainText } from '../widgets/plain-text.ts'
import { formatNumber } from '../widgets/units.ts'
import { views } from './views.ts'

export interface Command {
  readonly id: string
  readonly group: 'Commands' | 'Jobs'
  readonly title: string
  readonly hint?: string
  readonly icon?: Component
  /** Ink of a job's swatch. */
  readonly colour?: number
  readonly run: () => void
}

/** Newest notebooks that the palette leads to. */
const INCIDENTS_MOST = 20

export function useCommands(help: () => void) {
  const [router, source, time] = [useRouter(), useSourceStore(), useTimeStore()]
  const [settings, selection] = [useSettingsStore(), useSelectionStore()]
  const [rules, drafts] = [useRulesViewStore(), useRuleDraftStore()]
  const [metadata, locks] = [useMetadataStore(), useLocksStore()]
  const [compare, note] = [useCompareStore(), useNoteStore()]
  const [incidents, exportBundle] = [useIncidentsStore(), useExportBundle()]
  const [sandbox, runs, dryRun] = [useSandboxStore(), useSandboxRunStore(), useDryRun()]
  const inSandbox = (act: () => void) => () => void router.push({ name: 'sandbox' }).then(act)
  const [connections, enforcement] = [useConnectionsStore(), useEnforcementStore()]
  const inRules = (act: () => void) => () => void router.push({ name: 'rules' }).then(act)

  const verbs = computed((): Command[] => {
    const verb = (id: string, title: string, icon: Component, run: () => void, hint?: string): Command => ({
      ...{ id, group: 'Commands', title, icon, run },
      ...(hint === undefined ? {} : { hint }),
    })
    const here = views.filter((v) => v.isHere)
    return [
      ...here.map((v) =>
        verb(`view-${v.id}`, `Go to ${v.title}`, v.icon, () => void router.push({ name: v.id }), v.key || undefined),
      ),
      verb('pause', time.isPaused ? 'Back to live' : 'Pause on this sample', Pause, time.toggle, 'Space'),
      verb('event-previous', 'Event before', CalendarClock, () => void time.event('previous'), '['),
      verb('event-next', 'Next event', CalendarClock, () => void time.event('next'), ']'),
      verb('pin-a', compare.isOn ? 'Compare: move A here' : 'Compare: pin A here', Pin, compare.pin, 'C'),
      ...(compare.isOn ? [verb('unpin-a', 'Compare: end', Pin, compare.clear, 'Shift C')] : []),
      verb('note', 'Note at the cursor', NotebookPen, () => note.open('note'), 'Shift N'),
      verb('incident-new', 'New incident', NotebookPen, () => note.open('new'), 'N'),
      ...incidents.rows.slice(0, INCIDENTS_MOST).map(({ id, title }) =>
        verb(`incident-${id}`, `Go to incident ${id} ${plainText(title)}`, NotebookPen, () => {
          incidents.choose(id)
          void router.push({ name: 'incidents' })
        }),
      ),
      verb('bundle-export', 'Export a bundle', FileArchive, exportBundle, 'Ctrl E'),
      ...(time.crumbs.length > 0
        ? [verb('zoom-out', 'Out of the zoomed window', CalendarClock, () => time.stepOut())]
        : []),
      ...windows.map((w) =>
        verb(`window-${w.label}`, `Window: ${w.label}`, CalendarClock, () => time.chooseWindow(w.ms)),
      ),
      verb(
        'rule-new',
        'New rule',
        Plus,
        inRules(() => drafts.open({ service: rules.service, form: { queue: rules.queue } })),
        'n',
      ),
      ...((source.frame?.staged ?? 0) > 0
        ? [
            verb(
              'rules-review',
              'Review staged changes',
              ListChecks,
              inRules(() => (rules.isReviewOpen = true)),
            ),
          ]
        : []),
      verb(
        'rules-undo',
        'Undo list of rules',
        Undo2,
        inRules(() => (rules.isUndoOpen = true)),
        'Z',
      ),
      verb(
        'policies-edit',
        'Edit the policies of metadata QoS',
        FilePenLine,
        () => void router.push({ name: 'metadata' }).then(() => (metadata.isEditorOpen = true)),
        'e',
      ),
      verb('dry-run', 'Dry run: fork what is on screen and run it on the model', FlaskConical, () => dryRun(), 'D'),
      ...(sandbox.hasScenario
        ? [
            verb(
              'sandbox-run',
              'Run the variants of the sandbox',
              FlaskConical,
              inSandbox(() => void runs.run()),
              'r',
            ),
            verb(
              'sandbox-edit',
              'Edit the scenario of the sandbox',
              FilePenLine,
              inSandbox(() => (sandbox.tab = 'scenario')),
            ),
          ]
        : []),
      ...(runs.running ? [verb('sandbox-cancel', 'Cancel the run of the sandbox', FlaskConical, runs.cancel)] : []),
      verb(
        'locks-replay',
        'Replay the messages of a moment of locks',
        Lock,
        () => void router.push({ name: 'locks' }).then(() => (locks.middle = 'messages')),
        'm',
      ),
      verb(
        'locks-compare',
        'Compare the lock managers on the model',
        Lock,
        () => void router.push({ name: 'locks' }).then(() => void locks.compare()),
        'r',
      ),
      ...(source.off === null ? (['observe', 'advise', 'enforce'] as const) : []).map((m) =>
        verb(`mode-${m}`, `Mode: ${modeNames[m]}`, SlidersHorizontal, () => enforcement.setMode(m)),
      ),
      ...connections.clusters
        .filter((card) => !card.onScreen)
        .map((card) =>
          verb(`show-${card.name}`, `Show cluster ${card.name} (${card.env})`, Plug, () => void connections.show(card)),
        ),
      verb(
        'cluster-add',
        'Add a cluster',
        Plus,
        () => void router.push({ name: 'connections' }).then(() => connections.open('add')),
        'n',
      ),
      ...(enforcement.needsUnlock && source.off === null
        ? [
            verb('unlock', 'Unlock writing on this cluster', Lock, () => enforcement.openUnlock()),
            verb('lock', 'Lock writing on this cluster', Lock, () => void enforcement.lock()),
          ]
        : []),
      ...(source.off === null
        ? [verb('stop-all', 'Stop and remove all my rules', OctagonX, () => void enforcement.openStop())]
        : []),
      ...(source.off === null ? (['adaptbf', 'static', 'none'] as const) : []).map((c) =>
        verb(`controller-${c}`, `Controller: ${controllerNames[c]}`, FlaskConical, () => void source.setController(c)),
      ),
      ...(source.isEmulated ? speeds : []).map((s) =>
        verb(`speed-${s}`, s === 0 ? 'Speed: stand still' : `Speed: ${s}\u00D7`, Gauge, () => void source.setSpeed(s)),
      ),
      ...themes.map((t) => verb(`theme-${t}`, `Theme: ${t}`, Palette, () => (settings.theme = t))),
      verb('contrast', settings.contrast === 'high' ? 'Contrast: normal' : 'Contrast: high', Palette, () => {
        settings.contrast = settings.contrast === 'high' ? 'normal' : 'high'
      }),
      ...densities.map((d) => verb(`density-${d}`, `Density: ${d}`, Rows3, () => (settings.density = d))),
      verb('help', 'Keys and help', Keyboard, help, '?'),
      verb('clear', 'Clear the selection', LayoutDashboard, selection.clear, 'Esc'),
    ]
  })
  const jobs = computed((): Command[] =>
    onScreenJobs.value.map((job) => ({
      ...{ id: `job-${job.id}`, group: 'Jobs', title: job.id, colour: job.colour },
      hint: `${formatNumber(job.rpcs)} RPC/s`,
      run: () => {
        selection.select(job.id, { inspect: true })
        void router.push({ name: 'jobs' })
      },
    })),
  )
  return computed(() => [...verbs.value, ...jobs.value])
}

/** Keeps commands that hold every word of the query, in their order. */
export function matching(commands: readonly Command[], query: string): Command[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return commands.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)))
}
