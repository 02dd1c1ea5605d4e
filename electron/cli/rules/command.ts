/** `sluice rules …`: rules of a cluster from the shell. Every write is a stored plan, applied by typing its target's name. */
import { Command, Option } from 'commander'
import { SERVICE_NAMES, type ServiceName } from '#core/api/rule-edits.ts'
import { addClustersFlags } from '../clusters-flags.ts'
import { canary, expiry } from '../arguments.ts'

const service = (): Option =>
  new Option('--service <name>', 'service').choices(SERVICE_NAMES).default('ost_io' satisfies ServiceName)

/** Implementations are imported by the actions, to keep start-up fast. */
export function rulesCommand(): Command {
  const command = new Command('rules').description('list, plan, apply and revert rules of a cluster')
  const add = (name: string): Command => {
    const c = addClustersFlags(new Command(name)).option('--json', 'one JSON document')
    command.addCommand(c)
    return c
  }
  add('list')
    .description('rules in force, and their owners')
    .argument('<cluster>')
    .addOption(service())
    .action(async (...args: Parameters<typeof import('./list.ts').list>) => (await import('./list.ts')).list(...args))
  add('plan')
    .description('show the commands that would make the rules of a cluster equal to those in a file; nothing is sent')
    .argument('<cluster>')
    .requiredOption('--desired <file>', 'YAML: rules: [{ match, rate, queue?, rank?, name? }]; - is standard input')
    .option('--expire <time>', 'lifetime of the rules, for example 30m', expiry, 1800)
    .option('--reason <text>', 'reason, for the audit', '')
    .addOption(service())
    .action(async (...args: Parameters<typeof import('./plan.ts').plan>) => (await import('./plan.ts')).plan(...args))
  add('apply')
    .description('send a plan: timers first, canary before the other servers, with read-back')
    .argument('<plan>', 'plan id')
    .requiredOption(
      '--target <name>',
      'confirmation: type the name of the cluster (or of the rule or job, if the plan has only one)',
    )
    .option('--expire <time>', 'overrides the lifetime of the plan', expiry)
    .option('--reason <text>', 'overrides the reason of the plan')
    .option('--canary <s>', 'seconds to watch the first server before the rest', canary, 10)
    .option('--over-24h', 'allow rules to last more than a day')
    .option(
      '--yes-laptop-bound',
      'if a server supports no timers, this command keeps running and ends the rules itself',
    )
    .action(async (...args: Parameters<typeof import('./apply.ts').apply>) =>
      (await import('./apply.ts')).apply(...args),
    )
  add('revert')
    .description('revert a change of rules or of a policy')
    .argument('<change>', 'change id')
    .option('--canary <s>', 'seconds to watch the first server before the rest', canary, 0)
    .option(
      '--yes-laptop-bound',
      'if a server supports no timers, this command keeps running and ends the rules itself',
    )
    .action(async (...args: Parameters<typeof import('./revert.ts').revert>) =>
      (await import('./revert.ts')).revert(...args),
    )
  add('clean')
    .description('remove every rule, timer and lease managed by Sluice, and nothing else')
    .argument('<cluster>')
    .action(async (...args: Parameters<typeof import('./clean.ts').clean>) =>
      (await import('./clean.ts')).clean(...args),
    )
  return command
}
