/** `sluice policy …`: NRS policies and TBF types of a cluster from the shell, planned and applied as rules are. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { SERVICE_NAMES, type ServiceName } from '#core/api/rule-edits.ts'
import type { PolicyChoice } from '#core/control/policy-plan.ts'
import { canary } from '../arguments.ts'
import { addClustersFlags } from '../clusters-flags.ts'

/** `tbf jobid`, `tbf`, `fifo`: a name, and for TBF its type. */
function policy(text: string): PolicyChoice {
  const [, name = '', arg = ''] = /^([a-z][a-z0-9_]{0,15})(?: ([a-z][a-z+ ]{0,47}))?$/.exec(text) ?? []
  if (name === '' || (arg !== '' && name !== 'tbf')) {
    throw new InvalidArgumentError('A policy as Lustre names it: fifo, crrn, orr, "tbf jobid", "tbf nid+opcode".')
  }
  return { name, arg: arg.trim() }
}

/** The file of a command is read when it is the one: starting stays fast. */
export function policyCommand(): Command {
  const command = new Command('policy').description('show, plan, apply and revert NRS policies and TBF types')
  const add = (name: string): Command => {
    const c = addClustersFlags(new Command(name)).option('--json', 'one JSON document')
    command.addCommand(c)
    return c
  }
  add('show')
    .description('policies of each server, service and queue, and recent changes of them')
    .argument('<cluster>')
    .addOption(new Option('--service <name>', 'one service only').choices(SERVICE_NAMES))
    .action(async (...args: Parameters<typeof import('./show.ts').show>) => (await import('./show.ts')).show(...args))
  add('plan')
    .description('commands that change the policy of a service; nothing is sent')
    .argument('<cluster>')
    .requiredOption('--policy <policy>', 'policy with its TBF type, for example "tbf jobid"', policy)
    .addOption(
      new Option('--service <name>', 'whose policy').choices(SERVICE_NAMES).default('ost_io' satisfies ServiceName),
    )
    .addOption(new Option('--queue <queue>', 'queue').choices(['reg', 'hp', 'both']).default('both'))
    .option('--server <host...>', 'servers; all of the service without')
    .option('--reason <text>', 'reason, for the audit', '')
    .action(async (...args: Parameters<typeof import('./plan.ts').plan>) => (await import('./plan.ts')).plan(...args))
  add('apply')
    .description('sends a plan: one server first, then the rest, read back')
    .argument('<plan>', 'its id')
    .requiredOption('--target <name>', 'the cluster')
    .option('--reason <text>', 'instead of the reason of the plan')
    .option('--canary <s>', 'seconds that the first server is watched before the rest', canary, 10)
    .action(async (...args: Parameters<typeof import('./apply.ts').apply>) =>
      (await import('./apply.ts')).apply(...args),
    )
  add('revert')
    .description('returns servers to the policies, and the TBF rules, that they had before a change')
    .argument('<change>', 'its id')
    .option('--canary <s>', 'seconds that the first server is watched before the rest', canary, 0)
    .action(async (...args: Parameters<typeof import('../rules/revert.ts').revert>) =>
      (await import('../rules/revert.ts')).revert(...args),
    )
  return command
}
