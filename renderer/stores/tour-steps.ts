/**
 * The first ten minutes, step by step: what to press, where it is, and when it is done. A step is done by what the window then
 * shows, however the operator got there.
 */
import type { CommandId } from '../commands/catalogue.ts'

/** What steps are judged by. */
export interface TourWorld {
  readonly route: string
  readonly controller: string
  readonly isPaused: boolean
  /** A job is open in the inspector. */
  readonly hasJob: boolean
  /** Id of the newest result of the sandbox. */
  readonly run: string | null
  readonly staged: number
  readonly isReviewOpen: boolean
  /** The rule with a timer that stops next. */
  readonly expiry: string | null
  readonly isUndoOpen: boolean
  /** Incident that this window has filed last. */
  readonly filed: string | null
  /** Bundle that was written last. */
  readonly bundle: string | null
}

export interface TourStep {
  readonly id: string
  readonly title: string
  /** What to do. `{command}` stands for the keys of a command. */
  readonly text: string
  readonly why: string
  /** What to press, in the order in which the first that is on screen is shown. */
  readonly at: readonly string[]
  readonly keys: readonly CommandId[]
  readonly isDone: (now: TourWorld, before: TourWorld) => boolean
}

const by = (...ids: string[]): string[] => ids.map((id) => `[data-testid="${id}"]`)

export const tourSteps: readonly TourStep[] = [
  {
    id: 'controller',
    title: 'Let the hog run',
    text: 'Open the chip with the cluster\u2019s name and choose the controller None.',
    why: 'AdapTBF holds the hog back. Without it there is something to find: some seconds later the tiles turn and Who moved names a job.',
    at: by('controller-none', 'cluster'),
    keys: [],
    isDone: ({ controller }) => controller === 'none',
  },
  {
    id: 'pause',
    title: 'Freeze the picture',
    text: 'Wait until the queue has grown, then pause.',
    why: 'The evidence stands still while sampling goes on; the counter says how many samples wait. The arrow keys step through them.',
    at: by('pause'),
    keys: ['time.pause'],
    isDone: ({ isPaused }) => isPaused,
  },
  {
    id: 'job',
    title: 'Look at who presses',
    text: 'Go to Jobs and open the job at the top.',
    why: 'The inspector shows its operations, sizes and targets, and that no rule is bound to it.',
    at: [...by('job-row', 'nav-jobs')],
    keys: ['frame.jobs', 'jobs.next', 'jobs.open'],
    isDone: ({ hasJob }) => hasJob,
  },
  {
    id: 'dry-run',
    title: 'Prove a fix on a copy',
    text: 'Start a dry run of what is on screen, and wait for the verdict.',
    why: 'The state at the cursor is copied and run under several policies. Fewer seeds and seconds in the run bar are quicker. Read also what the model does not know.',
    at: by('verdict', 'progress', 'run', 'mover-what-if'),
    keys: ['frame.dry-run', 'sandbox.run'],
    isDone: (now, before) => now.run !== null && now.run !== before.run,
  },
  {
    id: 'stage',
    title: 'Stage the rule',
    text: 'Stage the best variant; or, where none is called best, the static cap from the menu beside it.',
    why: 'Its rule goes among the staged changes with the verdict as its reason. Nothing is sent.',
    at: by('stage-other', 'stage'),
    keys: [],
    isDone: ({ staged }) => staged > 0,
  },
  {
    id: 'review',
    title: 'Review what would be sent',
    text: 'In Rules, press Review.',
    why: 'The literal commands of every server, their inverse, the list before and after, and whom it hits.',
    at: by('review', 'nav-rules'),
    keys: ['frame.rules'],
    isDone: ({ isReviewOpen }) => isReviewOpen,
  },
  {
    id: 'commit',
    title: 'Commit it',
    text: 'Type the target that the dialog names, then press Commit.',
    why: 'A timer is made first, then the rule; every server is read back. This is the emulator: nobody is hurt.',
    at: by('commit', 'typed', 'review'),
    keys: [],
    isDone: (now, before) => now.expiry !== null && now.expiry !== before.expiry,
  },
  {
    id: 'countdown',
    title: 'See that it ends by itself',
    text: 'Close the dialog. The ring in the title bar counts down to the moment at which the servers stop the rule. Open the undo list of Rules.',
    why: 'The timer runs on the servers, laptop open or not. Each change in the list has its inverse.',
    at: by('undo-list', 'next-expiry'),
    keys: ['rules.undo-list'],
    isDone: ({ isUndoOpen }) => isUndoOpen,
  },
  {
    id: 'incident',
    title: 'Write it down',
    text: 'Go to Overview and open an incident. Give it a title and a line, and keep it.',
    why: 'Its cells are filled with what stood then: charts, who moved, the rules, the verdict, the commands.',
    at: by('note-keep', 'nav-overview'),
    keys: ['frame.overview', 'frame.incident'],
    isDone: (now, before) => now.filed !== null && now.filed !== before.filed,
  },
  {
    id: 'export',
    title: 'Hand it on',
    text: 'Open the incident and export it. Where what leaves is not on the page, the first press shows it and the second writes it.',
    why: 'One zip with stand-ins for every name, which opens in any browser.',
    at: by('bundle-export', 'filed-open', 'nav-incidents'),
    keys: ['frame.incidents', 'frame.export'],
    isDone: (now, before) => now.bundle !== null && now.bundle !== before.bundle,
  },
]
