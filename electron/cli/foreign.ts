/** Files from elsewhere on the command line: read through in processes that end with the command. */
import { ForeignFiles } from '../foreign/foreign-files.ts'

export async function withForeign<T>(use: (files: ForeignFiles) => Promise<T>): Promise<T> {
  const files = ForeignFiles.ofNode()
  try {
    return await use(files)
  } finally {
    files.close()
  }
}
