/**
 * The `sluice` command: one subcommand a file. Exit codes: 0 done, 1 failed, 2 usage, 3 host key, 4 authentication, 5 partial,
 * 6 unknown state.
 */
import { Command, CommanderError } from 'commander'
import { version } from '../files/resources.ts'
import { addClustersFlags } from './clusters-flags.ts'

/** In the order of the help. A command's file is loaded when its name is on the command line: starting stays fast. */
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
  haechi: async () => (await import('./haechi.ts')).haechiCommand(),
  papers: async () => (await import('./papers.ts')).papersCommand(),
  snapshot: async () => (await import('./snapshot.ts')).snapshotCommand(),
  watch: async () => (await import('./watch.ts')).watchCommand(),
  rules: async () => (await import('./rules/command.ts')).rulesCommand(),
  policy: async () => (await import('./policy/command.ts')).policyCommand(),
  control: async () => (await import('./control.ts')).controlCommand(),
  stop: async () => (await import('./stop.ts')).stopCommand(),
}

/** Those that are named, or all: for the help, and for a name that is none. */
async function commands(words: readonly string[]): Promise<Command[]> {
  if (words[0] === '--version' || words[0] === '-V') return []
  const named = Object.keys(COMMANDS).filter((name) => words.includes(name))
  return Promise.all((named.length > 0 ? named : Object.keys(COMMANDS)).flatMap((name) => COMMANDS[name]?.() ?? []))
}

/** Runs what the words say and sets the exit code; a command that fails ends the process. */
export async function runProgram(words: readonly string[]): Promise<void> {
  // Options of a command may have the names of those before it.
  const program = addClustersFlags(new Command('sluice').enablePositionalOptions())
    .description('Operator console for I/O quality of service on parallel file systems.')
    .version(version())
    .showHelpAfterError('(see sluice --help)')
    .exitOverride()
  // Served by the launcher, which builds the window first; it stands here for the help.
  program
    .command('serve')
    .description('serve the console to a browser on loopback, with a one-time token')
    .option('--port <n>', 'port, 0 = any free one')
    .option('--history <file>', 'where measurements are kept')
    .option('--scenario <file>', 'scenario for the built-in emulator')
  for (const c of await commands(words)) program.addCommand(c)
  const inherit = (command: Command): void => {
    for (const c of command.commands) inherit(c.copyInheritedSettings(command))
  }
  inherit(program)
  try {
    await program.parseAsync(words, { from: 'user' })
  } catch (e) {
    if (!(e instanceof CommanderError)) throw e
    process.exitCode = e.exitCode === 0 ? 0 : 2
  }
}
