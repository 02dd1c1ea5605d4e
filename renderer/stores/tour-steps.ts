/**
 * Steps of the tour: the element to click, and the condition that completes the step. A step is complete when the
 * window shows the result, however the operator got there.
 */
import type { CommandId } from '../commands/catalogue.ts'

/** State of the window that the steps check. */
export interface TourState {
  readonly route: string
  readonly controller: string
  /** The controller writes the rules that it computes. */
  readonly isEnforced: boolean
  readonly isPaused: boolean
  /** A job is open in the inspector. */
  readonly hasJob: boolean
  /** Id of the newest result of the sandbox. */
  readonly run: string | null
  readonly staged: number
  readonly isReviewOpen: boolean
  /** Rule whose timer expires next. */
  readonly expiry: string | null
  readonly isUndoOpen: boolean
  /** Incident that this window last created or extended. */
  readonly filed: string | null
  /** Last exported bundle. */
  readonly bundle: string | null
}

export interface TourStep {
  readonly id: string
  readonly title: string
  /** Instruction. `{command}` is replaced by the keys of a command. */
  readonly text: string
  readonly why: string
  /** Selectors of elements to click; the first one on screen is highlighted. */
  readonly at: readonly string[]
  readonly keys: readonly CommandId[]
  readonly isDone: (now: TourState, before: TourState) => boolean
}

const by = (...ids: string[]): string[] => ids.map((id) => `[data-testid="${id}"]`)

export const tourSteps: readonly TourStep[] = [
  {
    id: 'controller',
    title: 'Let the heavy job run',
    text: 'If the cluster is in enforce mode, open the cluster menu and choose the controller None.',
    why: 'The demo opens in advise mode: AdapTBF computes its rules and writes none, so nothing limits the heaviest job.',
    at: by('mode-confirm', 'controller-none', 'cluster'),
    keys: [],
    isDone: ({ controller, isEnforced }) => controller === 'none' || !isEnforced,
  },
  {
    id: 'pause',
    title: 'Pause',
    text: 'Wait until the queue has grown, then pause.',
    why: 'The view stays at this sample while sampling continues; the counter shows the number of new samples. The arrow keys step through them.',
    at: by('pause'),
    keys: ['time.pause'],
    isDone: ({ isPaused }) => isPaused,
  },
  {
    id: 'job',
    title: 'Find the heaviest job',
    text: 'Go to Jobs and open the job at the top.',
    why: 'The inspector shows its operations, sizes and targets, and that it matches the default rule only.',
    at: [...by('job-row', 'nav-jobs')],
    keys: ['frame.jobs', 'jobs.next', 'jobs.open'],
    isDone: ({ hasJob }) => hasJob,
  },
  {
    id: 'dry-run',
    title: 'Test a fix in the sandbox',
    text: 'Press Test in sandbox, and wait for the verdict.',
    why: 'The state at the cursor is copied and run under several policies. It is faster with fewer seeds and seconds under Parameters. Check the limits of the model, too.',
    at: by('verdict', 'progress', 'run', 'mover-what-if'),
    keys: ['frame.dry-run', 'sandbox.run'],
    isDone: (now, before) => now.run !== null && now.run !== before.run,
  },
  {
    id: 'stage',
    title: 'Stage the rule',
    text: 'Stage the best variant; if there is none, stage the static cap from the menu beside it.',
    why: 'Its rule is added to the staged changes, with the verdict as reason. Nothing is sent.',
    at: by('stage-other', 'stage'),
    keys: [],
    isDone: ({ staged }) => staged > 0,
  },
  {
    id: 'review',
    title: 'Review the commands',
    text: 'In Rules, press Review.',
    why: 'The literal commands for every server, the rollback commands, the list before and after, and the jobs affected.',
    at: by('review', 'nav-rules'),
    keys: ['frame.rules'],
    isDone: ({ isReviewOpen }) => isReviewOpen,
  },
  {
    id: 'commit',
    title: 'Commit the change',
    text: 'Type the target that the dialog names, then press Commit.',
    why: 'A timer is created first, then the rule; every server is read back. On the emulator this is safe.',
    at: by('commit', 'typed', 'review'),
    keys: [],
    isDone: (now, before) => now.expiry !== null && now.expiry !== before.expiry,
  },
  {
    id: 'countdown',
    title: 'Wait for the expiry',
    text: 'Close the dialog. The ring in the title bar counts down until the servers stop the rule. Then open Change history in Rules.',
    why: 'The timer runs on the servers, even if this console is closed. Each change in the list can be reverted.',
    at: by('undo-list', 'next-expiry'),
    keys: ['rules.undo-list'],
    isDone: ({ isUndoOpen }) => isUndoOpen,
  },
  {
    id: 'incident',
    title: 'Document the incident',
    text: 'Go to Overview and create an incident. Give it a title and a note, and save it.',
    why: 'Its cells are prefilled from the cursor time: charts, movers, rules, verdict, commands.',
    at: by('note-keep', 'nav-overview'),
    keys: ['frame.overview', 'frame.incident'],
    isDone: (now, before) => now.filed !== null && now.filed !== before.filed,
  },
  {
    id: 'export',
    title: 'Share the incident',
    text: 'Open the incident and export it. If the preview is not open, the first press opens it and the second writes the file.',
    why: 'One ZIP file with pseudonyms for every name, which opens in any browser.',
    at: by('bundle-export', 'filed-open', 'nav-incidents'),
    keys: ['frame.incidents', 'frame.export'],
    isDone: (now, before) => now.bundle !== null && now.bundle !== before.bundle,
  },
]
