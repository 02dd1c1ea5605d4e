/** The `sluice` command: one subcommand a file. Exit codes: 0 done, 1 failed, 2 usage. */
import { Command, CommanderError } from 'commander'
import { version } from '../host/resources.ts'
import { evalCommand } from './eval.ts'
import { haechiCommand } from './haechi.ts'
import { padllCommand } from './padll.ts'
import { papersCommand } from './papers.ts'
import { parseCommand } from './parse.ts'
import { runCommand } from './run.ts'
import { watchCommand } from './watch.ts'

const program = new Command('sluice')
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
program.addCommand(evalCommand())
program.addCommand(parseCommand())
program.addCommand(runCommand())
program.addCommand(padllCommand())
program.addCommand(haechiCommand())
program.addCommand(papersCommand())
program.addCommand(watchCommand())
for (const c of program.commands) c.copyInheritedSettings(program)

// A closed pipe (`sluice watch | head`) is an end, not a failure.
process.stdout.on('error', (e: NodeJS.ErrnoException) => process.exit(e.code === 'EPIPE' ? 0 : 1))

try {
  await program.parseAsync()
} catch (e) {
  if (!(e instanceof CommanderError)) throw e
  process.exitCode = e.exitCode === 0 ? 0 : 2
}
