"""`python -m prefcal`: the command `prefcal`, where its folder is not on the path."""

from study_app.cli import main

if __name__ == "__main__":
    main()
