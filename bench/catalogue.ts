/**
 * All benchmarks. Each bench file is beside the code that it measures; those that need a browser or a separate process are in
 * this folder.
 */
import { benches as adaptbf } from '#core/adaptbf/allocation.bench.ts'
import { benches as alerts } from '#core/alerts/alerts.bench.ts'
import { benches as ldlm } from '#core/emulator/ldlm.bench.ts'
import { benches as emulatedSecond } from '#core/emulator/emulator.bench.ts'
import { benches as haechi } from '#core/haechi/haechi.bench.ts'
import { benches as lustre } from '#core/lustre/job-stats.bench.ts'
import { benches as lustreMemory } from '#core/lustre/job-stats-memory.bench.ts'
import { benches as padllControl } from '#core/padll/control/cycle.bench.ts'
import { benches as padllStage } from '#core/padll/stage/stage.bench.ts'
import { benches as fig20 } from '#core/papers/seqdlm/ior-single.bench.ts'
import { benches as sandbox } from '#core/sandbox/run.bench.ts'
import { benches as seqdlm } from '#core/seqdlm/lock-server.bench.ts'
import { benches as seqdlmTrace } from '#core/seqdlm/trace/trace.bench.ts'
import { benches as sim } from '#core/sim/simulation.bench.ts'
import { benches as tbf } from '#core/tbf/tbf-head.bench.ts'
import { benches as ccpfs } from '#electron/ccpfs/grants.bench.ts'
import { benches as serverPeriods } from '#electron/cluster/control/server-periods.bench.ts'
import { benches as collection } from '#electron/cluster/read/collection.bench.ts'
import { suites as host } from '#electron/cluster/host.bench.ts'
import { benches as emulator } from '#electron/cluster/monitor.bench.ts'
import { benches as haechiReal } from '#electron/haechi/real-node.bench.ts'
import { benches as excerpt } from '#electron/history/excerpt.bench.ts'
import { benches as history } from '#electron/history/history.bench.ts'
import { benches as search } from '#electron/host/search/search.bench.ts'
import { benches as jobsFilter } from '#electron/host/views/jobs/jobs-filter.bench.ts'
import { benches as rulesCheck } from '#electron/host/rules/check.bench.ts'
import { benches as rulesCommit } from '#electron/host/rules/commit.bench.ts'
import { benches as incidentOpening } from '#electron/host/incidents/opening.bench.ts'
import { benches as alertsGather } from '#electron/host/incidents/alerts.bench.ts'
import { benches as bundle } from '#electron/incidents/bundle/bundle.bench.ts'
import { benches as padllHierarchy } from '#electron/padll/hierarchy.bench.ts'
import { benches as padllCStage } from '#electron/padll/stage.bench.ts'
import { benches as step } from '#electron/recorded/step.bench.ts'
import { benches as sandboxThreads } from '#electron/sandbox/sandbox.bench.ts'
import { benches as ssh } from '#electron/ssh/ssh.bench.ts'
import { suites as desktop } from './desktop.ts'
import type { Bench, Growth, Suite } from './measure.ts'
import { suites as period } from './period.ts'
import { suites as window } from './window.ts'

/** Benches in execution order: those that depend on a warm machine are not last. */
export const benches: readonly (Bench | Growth)[] = [
  ...sim,
  ...sandbox,
  ...sandboxThreads,
  ...tbf,
  ...lustre,
  ...lustreMemory,
  ...ldlm,
  ...adaptbf,
  ...seqdlm,
  ...seqdlmTrace,
  ...fig20,
  ...haechi,
  ...haechiReal,
  ...ccpfs,
  ...padllControl,
  ...padllStage,
  ...emulator,
  ...emulatedSecond,
  ...collection,
  ...serverPeriods,
  ...history,
  ...excerpt,
  ...bundle,
  ...alerts,
  ...alertsGather,
  ...incidentOpening,
  ...rulesCheck,
  ...rulesCommit,
  ...padllCStage,
  ...padllHierarchy,
  ...ssh,
  ...step,
  ...jobsFilter,
  ...search,
]

/** Benches of a browser and of whole processes, run after the others. */
export const suites: readonly Suite[] = [...host, ...period, ...desktop, ...window]
