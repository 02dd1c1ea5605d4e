/** Options of `sluice control CLUSTER`, a controller without a window. Implementation in control-run.ts. */
import { ADAPTBF, CONTROLLER_NAMES } from '#core/controllers/registry.ts'
import { Command, Option } from 'commander'
import { MODES } from '#core/control/controller.ts'
import { addClustersFlags } from './clusters-flags.ts'
import { CONTROL_MAX_MS, CONTROL_MS } from '#core/api/clusters.ts'
import { controlPeriod, seconds } from './arguments.ts'

type Action = typeof import('./control-run.ts').control

export function controlCommand(): Command {
  return addClustersFlags(new Command('control'))
    .description('run a controller on a cluster; its rules are removed when it ends, or by their lease if it is killed')
    .argument('<cluster>', 'a cluster of --config or of the data folder, or emulator: the built-in one')
    .addOption(new Option('--controller <name>', 'controller').choices(CONTROLLER_NAMES).default(ADAPTBF))
    .addOption(new Option('--mode <mode>', 'only enforce writes rules').choices(MODES).default('observe'))
    .option('--target <name>', 'with enforce: the name of the cluster')
    .option('--take-over', 'with enforce: take over from another console that enforces; both record it')
    .option(
      '--clear-job-stats <name>',
      'with enforce: clear job_stats after each period, as the prototype of AdapTBF; the name of the cluster confirms that no other ' +
        'program reads them',
    )
    .option('--for <s>', 'stop after this many seconds', seconds)
    .option(
      '--period <ms>',
      `control period of each server, ${CONTROL_MS} to ${CONTROL_MAX_MS}; above the sampling interval, both (default: that of the cluster)`,
      controlPeriod,
    )
    .option('--json', 'one JSON line per sample, with the control periods of each server')
    .action(async (...args: Parameters<Action>) => (await import('./control-run.ts')).control(...args))
}
