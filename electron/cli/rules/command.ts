/** `sluice rules …`: the rules of a cluster from the shell. Every write is a plan that was kept, applied under its target's name. */
import { Command, Option } from 'commander'
import { SERVICE_NAMES, type ServiceName } from '#core/api/rule-edits.ts'
import { addClustersFlags } from '../clusters-flags.ts'
import { canary, expiry } from '../arguments.ts'

const service = (): Option =>
  new Option('--service <name>', 'whose rules').choices(SERVICE_NAMES).default('ost_io' satisfies ServiceName)

/** The file of a command is read when it is the one: starting stays fast. */
export function rulesCommand(): Command {
  const command = new Command('rules').description('list, plan, apply and take back rules of a cluster')
  const add = (name: string): Command => {
    const c = addClustersFlags(new Command(name)).option('--json', 'one JSON document')
    command.addCommand(c)
    return c
  }
  add('list')
    .description('the rules that stand, and whose they are')
    .argument('<cluster>')
    .addOption(service())
    .action(async (...args: Parameters<typeof import('./list-command.ts').list>) =>
      (await import('./list-command.ts')).list(...args),
    )
  add('plan')
    .description('what it takes to have the rules of a file; nothing is sent')
    .argument('<cluster>')
    .requiredOption('--desired <file>', 'YAML: rules: [{ match, rate, queue?, rank?, name? }]; - is standard input')
    .option('--expire <time>', 'how long the rules stand, for example 30m', expiry, 1800)
    .option('--reason <text>', 'why, for whoever reads the audit', '')
    .addOption(service())
    .action(async (...args: Parameters<typeof import('./plan.ts').plan>) => (await import('./plan.ts')).plan(...args))
  add('apply')
    .description('sends a plan: timers first, one server before the rest, read back')
    .argument('<plan>', 'its id')
    .requiredOption('--target <name>', 'the cluster, or the one rule or job that it is about')
    .option('--expire <time>', 'instead of the time of the plan', expiry)
    .option('--reason <text>', 'instead of the reason of the plan')
    .option('--canary <s>', 'how long the first server is watched before the rest', canary, 10)
    .option('--over-24h', 'the rules may stand for more than a day')
    .option('--yes-laptop-bound', 'where a server keeps no timers, this command stays and ends the rules itself')
    .action(async (...args: Parameters<typeof import('./apply.ts').apply>) =>
      (await import('./apply.ts')).apply(...args),
    )
  add('revert')
    .description('takes a change of rules or of a policy back')
    .argument('<change>', 'its id')
    .option('--canary <s>', 'how long the first server is watched before the rest', canary, 0)
    .option('--yes-laptop-bound', 'rules that come back may be bound to this command')
    .action(async (...args: Parameters<typeof import('./revert.ts').revert>) =>
      (await import('./revert.ts')).revert(...args),
    )
  add('clean')
    .description('removes every rule, timer and lease of ours, and nothing else')
    .argument('<cluster>')
    .action(async (...args: Parameters<typeof import('./clean.ts').clean>) =>
      (await import('./clean.ts')).clean(...args),
    )
  return command
}
