import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    pool: 'threads',
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
})
