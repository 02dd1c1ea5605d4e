/**
 * The `sluice` command: one subcommand a file. Exit codes: 0 done, 1 failed, 2 usage, 3 host key, 4 authentication, 5 partial,
 * 6 unknown state.
 */
import { Command, CommanderError } from 'commander'
import { version } from '../files/resources.ts'
import { addClustersFlags } from './clusters-flags.ts'

/** Subcommands in the order of the help, imported on demand to keep start-up fast. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  emulate: async () => (await import('./emulate.ts')).emulateCommand(),
  audit: async () => (await import('./audit.ts')).auditCommand(),
  eval: async () => (await import('./eval.ts')).evalCommand(),
  history: async () => (await import('./history.ts')).historyCommand(),
  parse: async () => (await import('./parse.ts')).parseCommand(),
  probe: async () => (await import('./probe.ts')).probeCommand(),
  run: async () => (await import('./run.ts')).runCommand(),
  compare: async () => (await import('./compare.ts')).compareCommand(),
  sweep: async () => (await import('./sweep.ts')).sweepCommand(),
  fork: async () => (await import('./fork.ts')).forkCommand(),
  padll: async () => (await import('./padll.ts')).padllCommand(),
  ccpfs: async () => (await import('./ccpfs.ts')).ccpfsCommand(),
  haechi: async () => (await import('./haechi.ts')).haechiCommand(),
  papers: async () => (await import('./papers.ts')).papersCommand(),
  snapshot: async () => (await import('./snapshot.ts')).snapshotCommand(),
  watch: async () => (await import('./watch.ts')).watchCommand(),
  rules: async () => (await import('./rules/command.ts')).rulesCommand(),
  policy: async () => (await import('./policy/command.ts')).policyCommand(),
  control: async () => (await import('./control.ts')).controlCommand(),
  stop: async () => (await import('./stop.ts')).stopCommand(),
}

/** Loads the named subcommands; all of them for help or an unknown name. */
async function commands(args: readonly string[]): Promise<Command[]> {
  if (args[0] === '--version' || args[0] === '-V') return []
  const named = Object.keys(COMMANDS).filter((name) => args.includes(name))
  return Promise.all((named.length > 0 ? named : Object.keys(COMMANDS)).flatMap((name) => COMMANDS[name]?.() ?? []))
}

/** Parses and runs a command line and sets the exit code; a command that fails ends the process. */
export async function runProgram(args: readonly string[]): Promise<void> {
  // Positional options, because a subcommand may reuse the name of a global option.
  const program = addClustersFlags(new Command('sluice').enablePositionalOptions())
    .description('Operator console for I/O quality of service on parallel file systems.')
    .version(version())
    .showHelpAfterError('(see sluice --help)')
    .exitOverride()
  // Handled by the launcher, which builds the window first; declared here for the help.
  program
    .command('serve')
    .description('serve the console to a browser on loopback, with a one-time token')
    .option('--port <n>', 'port, 0 = any free one')
    .option('--history <file>', 'history file')
    .option('--scenario <file>', 'scenario for the built-in emulator')
  for (const c of await commands(args)) program.addCommand(c)
  const inherit = (command: Command): void => {
    for (const c of command.commands) inherit(c.copyInheritedSettings(command))
  }
  inherit(program)
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (e) {
    if (!(e instanceof CommanderError)) throw e
    process.exitCode = e.exitCode === 0 ? 0 : 2
  }
}
