/** `sluice stop CLUSTER`: global stop from the shell, or a script that does the same on the servers. */
import { Command } from 'commander'
import { addClustersFlags } from './clusters-flags.ts'

type Action = typeof import('./rules/clean.ts').stopCluster

export function stopCommand(): Command {
  return addClustersFlags(new Command('stop'))
    .description('stop enforcing and remove every rule managed by Sluice on a cluster, now')
    .argument('<cluster>', 'a cluster of --config or of the data folder')
    .option('--script', 'print a POSIX script for an admin’s shell instead; nothing is sent')
    .option('--json', 'one JSON document')
    .action(async (...args: Parameters<Action>) => (await import('./rules/clean.ts')).stopCluster(...args))
}
