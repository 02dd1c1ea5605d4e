/** Entry point of the `sluice` command. */
import { runProgram } from './program.ts'

// A closed pipe (`sluice watch | head`) is a normal exit.
process.stdout.on('error', (e: NodeJS.ErrnoException) => process.exit(e.code === 'EPIPE' ? 0 : 1))

await runProgram(process.argv.slice(2))
