/** What the command palette offers: verbs first, then the jobs that are on screen. */
import {
  FilePenLine,
  FlaskConical,
  Gauge,
  Keyboard,
  LayoutDashboard,
  ListChecks,
  Lock,
  OctagonX,
  Palette,
  Pause,
  Plug,
  Plus,
  Rows3,
  SlidersHorizontal,
  Undo2,
} from '@lucide/vue'
import { computed, type Component } from 'vue'
import { useRouter } from 'vue-router'
import { onScreenJobs } from '../composables/on-screen-jobs.ts'
import { useConnectionsStore } from '../stores/connections.ts'
import { useEnforcementStore } from '../stores/enforcement.ts'
import { useLocksStore } from '../stores/locks.ts'
import { useMetadataStore } from '../stores/metadata.ts'
import { useRuleDraftStore } from '../stores/rule-draft.ts'
import { useRulesViewStore } from '../stores/rules-view.ts'
import { useSelectionStore } from '../stores/selection.ts'
import { densities, themes, useSettingsStore } from '../stores/settings.ts'
import { controllerNames, modeNames, speeds, useSourceStore } from '../stores/source.ts'
import { useTimeStore } from '../stores/time.ts'
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

export function useCommands(help: () => void) {
  const [router, source, time] = [useRouter(), useSourceStore(), useTimeStore()]
  const [settings, selection] = [useSettingsStore(), useSelectionStore()]
  const [rules, drafts] = [useRulesViewStore(), useRuleDraftStore()]
  const [metadata, locks] = [useMetadataStore(), useLocksStore()]
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
      verb('pause', time.isPaused ? 'Live again' : 'Pause on this sample', Pause, time.toggle, 'Space'),
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
      ...(['observe', 'advise', 'enforce'] as const).map((m) =>
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
      ...(enforcement.needsUnlock
        ? [
            verb('unlock', 'Unlock writing on this cluster', Lock, () => enforcement.openUnlock()),
            verb('lock', 'Lock writing on this cluster', Lock, () => void enforcement.lock()),
          ]
        : []),
      verb('stop-all', 'Stop and remove all my rules', OctagonX, () => void enforcement.openStop()),
      ...(['adaptbf', 'static', 'none'] as const).map((c) =>
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
