import sys

from learnalg.cli import main

sys.exit(main())
