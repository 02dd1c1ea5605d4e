/** `sluice emulate` alone: a lab starts faster without the other commands. It ends with its parent, even if that is killed. */
import { emulateCommand } from '#electron/cli/emulate.ts'

const orphaned = (): void => void process.kill(process.pid, 'SIGTERM')
process.stdin.resume().on('end', orphaned).on('error', orphaned)

await emulateCommand().parseAsync()
// The parent's end of standard input was closed.
process.exit()
