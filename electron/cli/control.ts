/** `sluice control CLUSTER`: a controller without a window. The command; what it does is in control-run.ts. */
import { ADAPTBF, CONTROLLER_NAMES } from '#core/controllers/registry.ts'
import { Command, Option } from 'commander'
import { MODES } from '#core/control/controller.ts'
import { addClustersFlags } from './clusters-flags.ts'
import { seconds } from './arguments.ts'

type Action = typeof import('./control-run.ts').control

export function controlCommand(): Command {
  return addClustersFlags(new Command('control'))
    .description('runs a controller on a cluster; its rules go when it ends, and by their lease when it is killed')
    .argument('<cluster>', 'a cluster of --config or of the data folder, or emulator: the built-in one')
    .addOption(new Option('--controller <name>', 'what decides').choices(CONTROLLER_NAMES).default(ADAPTBF))
    .addOption(new Option('--mode <mode>', 'enforce writes rules').choices(MODES).default('observe'))
    .option('--target <name>', 'with enforce: the name of the cluster')
    .option('--take-over', 'with enforce: another console that enforces leaves it; both put that on record')
    .option('--for <s>', 'end after so many seconds', seconds)
    .option('--json', 'one JSON line a period')
    .action(async (...args: Parameters<Action>) => (await import('./control-run.ts')).control(...args))
}
