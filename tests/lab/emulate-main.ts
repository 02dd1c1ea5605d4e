/** `sluice emulate` alone: a lab starts faster without the other commands. */
import { emulateCommand } from '#electron/cli/emulate.ts'

await emulateCommand().parseAsync()
