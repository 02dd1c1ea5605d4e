/** `sluice stop CLUSTER`: the global stop from the shell, or the script that does the same without this machine. */
import { Command } from 'commander'
import { addClustersFlags } from './clusters-flags.ts'

type Action = typeof import('./rules/clean.ts').stopCluster

export function stopCommand(): Command {
  return addClustersFlags(new Command('stop'))
    .description('stops and removes every rule of ours on a cluster, now')
    .argument('<cluster>', 'a cluster of --config or of the data folder')
    .option('--script', 'prints a POSIX script for an admin’s shell instead; nothing is sent')
    .option('--json', 'one JSON document')
    .action(async (...args: Parameters<Action>) => (await import('./rules/clean.ts')).stopCluster(...args))
}
