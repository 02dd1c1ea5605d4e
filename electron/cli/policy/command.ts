/** `sluice policy …`: NRS policies and TBF types of a cluster from the shell, planned and applied like rules. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { SERVICE_NAMES, type ServiceName } from '#core/api/rule-edits.ts'
import type { PolicyChoice } from '#core/control/policy-plan.ts'
import { canary } from '../arguments.ts'
import { addClustersFlags } from '../clusters-flags.ts'

/** Parses `tbf jobid`, `tbf`, `fifo`: a policy, and for TBF its type. */
function policy(text: string): PolicyChoice {
  const [, name = '', arg = ''] = /^([a-z][a-z0-9_]{0,15})(?: ([a-z][a-z+ ]{0,47}))?$/.exec(text) ?? []
  if (name === '' || (arg !== '' && name !== 'tbf')) {
    throw new InvalidArgumentError('A policy as Lustre names it: fifo, crrn, orr, "tbf jobid", "tbf nid+opcode".')
  }
  return { name, arg: arg.trim() }
}

/** Implementations are imported by the actions, to keep start-up fast. */
export function policyCommand(): Command {
  const command = new Command('policy').description('show, plan, apply and revert NRS policies and TBF types')
  const add = (name: string): Command => {
    const c = addClustersFlags(new Command(name)).option('--json', 'one JSON document')
    command.addCommand(c)
    return c
  }
  add('show')
    .description('policies of each server, service and queue, and recent changes')
    .argument('<cluster>')
    .addOption(new Option('--service <name>', 'one service only').choices(SERVICE_NAMES))
    .action(async (...args: Parameters<typeof import('./show.ts').show>) => (await import('./show.ts')).show(...args))
  add('plan')
    .description('commands that change the policy of a service; nothing is sent')
    .argument('<cluster>')
    .requiredOption('--policy <policy>', 'policy with its TBF type, for example "tbf jobid"', policy)
    .addOption(new Option('--service <name>', 'service').choices(SERVICE_NAMES).default('ost_io' satisfies ServiceName))
    .addOption(new Option('--queue <queue>', 'queue').choices(['reg', 'hp', 'both']).default('both'))
    .option('--server <host...>', 'servers (default: all of the service)')
    .option('--reason <text>', 'reason, for the audit', '')
    .action(async (...args: Parameters<typeof import('./plan.ts').plan>) => (await import('./plan.ts')).plan(...args))
  add('apply')
    .description('send a plan: canary first, then the other servers, with read-back')
    .argument('<plan>', 'plan id')
    .requiredOption('--target <name>', 'the cluster')
    .option('--reason <text>', 'overrides the reason of the plan')
    .option('--canary <s>', 'seconds to watch the first server before the rest', canary, 10)
    .action(async (...args: Parameters<typeof import('./apply.ts').apply>) =>
      (await import('./apply.ts')).apply(...args),
    )
  add('revert')
    .description('restore the policies and TBF rules from before a change')
    .argument('<change>', 'change id')
    .option('--canary <s>', 'seconds to watch the first server before the rest', canary, 0)
    .action(async (...args: Parameters<typeof import('../rules/revert.ts').revert>) =>
      (await import('../rules/revert.ts')).revert(...args),
    )
  return command
}
