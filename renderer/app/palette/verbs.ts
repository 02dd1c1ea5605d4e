/** Palette commands that are not in the catalogue: they depend on the state of the window. */
import { CONTROLLERS } from '#core/controllers/definitions.ts'
import {
  CalendarClock,
  Download,
  FilePenLine,
  FlaskConical,
  Gauge,
  ListChecks,
  Lock,
  NotebookPen,
  Palette,
  Plug,
  Plus,
  Rows3,
  SlidersHorizontal,
} from '@lucide/vue'
import { computed, type Component } from 'vue'
import { useRouter } from 'vue-router'
import type { CommandId } from '../../commands/catalogue.ts'
import type { Need } from '../../commands/command.ts'
import { useConnectionsStore } from '../../stores/connections.ts'
import { useHistoryExportStore } from '../../stores/history-export.ts'
import { useEnforcementStore } from '../../stores/enforcement.ts'
import { useIncidentsStore } from '../../stores/incidents.ts'
import { useLocksStore } from '../../stores/locks.ts'
import { useMetadataStore } from '../../stores/metadata.ts'
import { useSandboxRunStore } from '../../stores/sandbox-run.ts'
import { useSandboxStore } from '../../stores/sandbox.ts'
import { useRuleDraftStore } from '../../stores/rule-draft.ts'
import { useRulesViewStore } from '../../stores/rules-view.ts'
import { densities, themes, useSettingsStore } from '../../stores/settings.ts'
import { modeNames, speeds, useSourceStore } from '../../stores/source.ts'
import { useTimeStore, windows } from '../../stores/time.ts'
import { plainText } from '../../format/plain-text.ts'
import type { Verb } from './item.ts'

/** Most incidents listed, newest first. */
const INCIDENTS_MOST = 20

export function usePaletteVerbs() {
  const router = useRouter()
  const source = useSourceStore()
  const time = useTimeStore()
  const settings = useSettingsStore()
  const rules = useRulesViewStore()
  const drafts = useRuleDraftStore()
  const metadata = useMetadataStore()
  const locks = useLocksStore()
  const incidents = useIncidentsStore()
  const sandbox = useSandboxStore()
  const runs = useSandboxRunStore()
  const inSandbox = (act: () => void) => () => void router.push({ name: 'sandbox' }).then(act)
  const connections = useConnectionsStore()
  const enforcement = useEnforcementStore()
  const exporter = useHistoryExportStore()
  const inRules = (act: () => void) => () => void router.push({ name: 'rules' }).then(act)

  const verbs = computed((): Verb[] => {
    const verb = (id: string, title: string, icon: Component, run: () => void, of?: CommandId): Verb => ({
      id,
      group: 'Commands',
      title,
      icon,
      run,
      ...(of === undefined ? {} : { of }),
    })
    const needing = (needs: Need, one: Verb): Verb => ({ ...one, needs })
    return [
      ...incidents.rows.slice(0, INCIDENTS_MOST).map(({ id, title }) =>
        verb(`incident-${id}`, `Go to incident ${id} ${plainText(title)}`, NotebookPen, () => {
          incidents.choose(id)
          void router.push({ name: 'incidents' })
        }),
      ),
      ...windows.map((w) =>
        verb(`window-${w.label}`, `Window: ${w.label}`, CalendarClock, () => time.chooseWindow(w.ms)),
      ),
      verb(
        'rule-new',
        'New rule',
        Plus,
        inRules(() => drafts.open({ service: rules.service, form: { queue: rules.queue } })),
        'rules.new',
      ),
      {
        ...verb(
          'rules-review',
          'Review staged changes',
          ListChecks,
          inRules(() => (rules.isReviewOpen = true)),
          'rules.review',
        ),
        keywords: 'commit send apply rules',
        ...((source.frame?.staged ?? 0) > 0 ? {} : { why: 'Nothing is staged' }),
      },
      {
        ...verb(
          'history-csv',
          'Export history as CSV',
          Download,
          () => void router.push({ name: 'history' }).then(() => (exporter.isOpen = true)),
        ),
        keywords: 'download save table samples',
      },
      verb(
        'policies-edit',
        'Edit metadata QoS policies',
        FilePenLine,
        () => void router.push({ name: 'metadata' }).then(() => (metadata.isEditorOpen = true)),
        'metadata.edit',
      ),
      ...(sandbox.hasScenario
        ? [
            verb(
              'sandbox-run',
              'Run sandbox variants',
              FlaskConical,
              inSandbox(() => void runs.run()),
              'sandbox.run',
            ),
            verb(
              'sandbox-edit',
              'Edit sandbox scenario',
              FilePenLine,
              inSandbox(() => (sandbox.tab = 'scenario')),
            ),
          ]
        : []),
      ...(runs.running ? [verb('sandbox-cancel', 'Cancel sandbox run', FlaskConical, runs.cancel)] : []),
      verb(
        'locks-replay',
        'Replay lock messages',
        Lock,
        () => void router.push({ name: 'locks' }).then(() => (locks.middle = 'messages')),
        'locks.messages',
      ),
      verb(
        'locks-compare',
        'Compare lock managers on the model',
        Lock,
        () => void router.push({ name: 'locks' }).then(() => void locks.compare()),
        'locks.compare',
      ),
      ...(source.off === null ? (['observe', 'advise', 'enforce'] as const) : []).map((m) =>
        // Observe writes nothing: it is available as long as the host responds.
        needing(
          m === 'observe' ? 'host' : 'servers',
          verb(`mode-${m}`, `Mode: ${modeNames[m]}`, SlidersHorizontal, () => enforcement.requestChange({ mode: m })),
        ),
      ),
      ...connections.clusters
        .filter((card) => !card.onScreen)
        .map((card) =>
          needing(
            'host',
            verb(
              `show-${card.name}`,
              `Switch to cluster ${card.name} (${card.env})`,
              Plug,
              () => void connections.show(card),
            ),
          ),
        ),
      verb(
        'cluster-add',
        'Add cluster',
        Plus,
        () => void router.push({ name: 'connections' }).then(() => connections.open('add')),
        'connections.add',
      ),
      ...(source.off === null ? CONTROLLERS : []).map((c) =>
        needing(
          'servers',
          verb(`controller-${c.name}`, `Controller: ${c.title}`, FlaskConical, () =>
            enforcement.requestChange({ controller: c.name }),
          ),
        ),
      ),
      ...(source.isEmulated ? speeds : []).map((s) =>
        needing(
          'host',
          verb(`speed-${s}`, s === 0 ? 'Speed: paused' : `Speed: ${s}\u00D7`, Gauge, () => void source.setSpeed(s)),
        ),
      ),
      ...themes.map((t) => verb(`theme-${t}`, `Theme: ${t}`, Palette, () => (settings.theme = t))),
      ...densities.map((d) => verb(`density-${d}`, `Density: ${d}`, Rows3, () => (settings.density = d))),
    ]
  })
  return verbs
}
