"""What fluid calls its incubator: data generators and, before 2.0, fleet."""
